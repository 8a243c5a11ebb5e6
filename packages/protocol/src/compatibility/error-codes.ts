import type { ErrorCode } from "../errors.ts";

/** Header of a refusal that other tools have a code of their own for. */
export const FOREIGN_CODE_HEADER = "x-pcc-error-code";

const FOREIGN_CODES: Partial<Record<ErrorCode, string>> = {
  "AGENT-1001": "PCC-1001",
  "AGENT-1002": "PCC-1002",
  "AGENT-AT-CAPACITY": "PCC-AGENT-AT-CAPACITY",
  UNAUTHORIZED: "401",
  NOT_FOUND: "404",
  RATE_LIMITED: "429",
  INTERNAL_SERVER_ERROR: "500",
};

/** What other tools call an error of ours; undefined where they have no name for it. */
export function foreignCodeOf(code: ErrorCode): string | undefined {
  return FOREIGN_CODES[code];
}
