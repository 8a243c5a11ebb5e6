import type { ErrorCode } from "../errors.ts";

const PREFIX = "pcc_pat_";

/** A bearer token without what other command lines insist on before it: theirs is `pcc_pat_` and then our key. */
export function withoutForeignPrefix(token: string): string {
  return token.startsWith(PREFIX) ? token.slice(PREFIX.length) : token;
}

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

/** The code other tools use for one of our errors; undefined if they have none. */
export function foreignCodeOf(code: ErrorCode): string | undefined {
  return FOREIGN_CODES[code];
}

/** Environment variables of other runners, by the name they have here. Ours win where both are set. */
const FOREIGN_VARIABLES: Record<string, string> = {
  VOCALHOST_WEBSOCKET_AUTH: "PIPECAT_WEBSOCKET_AUTH",
  VOCALHOST_ICE_SERVERS: "PIPECAT_ICE_SERVERS",
  VOCALHOST_ALLOWED_ORIGINS: "PIPECAT_ALLOWED_ORIGINS",
  VOCALHOST_UPLOADS_FOLDER: "PIPECAT_UPLOADS_FOLDER",
};

/** The environment with our names filled in from theirs. */
export function withOurVariables(
  environment: Record<string, string | undefined>,
): Record<string, string | undefined> {
  const filled = { ...environment };
  for (const [ours, theirs] of Object.entries(FOREIGN_VARIABLES)) filled[ours] ||= environment[theirs];
  return filled;
}

/** Parameters of a phone stream that name the agent, ours first; the value is `{agent}.{organization}`. */
const SERVICE_HOST_PARAMETERS = ["_serviceHost", "_pipecatCloudServiceHost"] as const;

/** Reads the callee from the parameters of a stream. */
export function serviceHostIn(parameters: Readonly<Record<string, unknown>>): string | undefined {
  const values = SERVICE_HOST_PARAMETERS.map((name) => parameters[name]);
  return values.find((value): value is string => typeof value === "string" && value !== "");
}
