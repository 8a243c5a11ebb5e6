import type { AgentRecord } from "@vocalhost/protocol";
import type { Style } from "../ui.ts";

/** An agent's condition in a word. */
export interface AgentState {
  word: "rolling out" | "ready" | "degraded" | "progressing" | "unavailable";
  style: Style;
}

export function agentState(record: AgentRecord): AgentState {
  const is = (type: string): boolean =>
    record.conditions?.some((condition) => condition.type === type && condition.status === "True") ?? false;
  const isFailed = (record.errors?.length ?? 0) > 0;
  if (record.reconciledDeploymentId !== record.desiredDeploymentId && !isFailed)
    return { word: "rolling out", style: "yellow" };
  if (record.available && record.ready && !is("Degraded")) return { word: "ready", style: "green" };
  if (record.available && (is("Degraded") || isFailed)) return { word: "degraded", style: "yellow" };
  if (record.available || is("Progressing")) return { word: "progressing", style: "yellow" };
  return { word: "unavailable", style: "red" };
}
