import type { AgentRecord } from "@vocalhost/protocol";
import { Problem } from "../problem.ts";

/** Of an agent in several regions none is changed by chance. */
export function requireRegion(
  { regions = [] }: AgentRecord,
  { agent, region }: { agent: string; region: string | null | undefined },
): void {
  if (regions.length < 2 || typeof region === "string") return;
  throw new Problem("region_needed", `'${agent}' is in several regions: ${regions.join(", ")}`, {
    fixes: regions.map((each) => `Name the one you mean: --region ${each}`),
  });
}
