import type { AgentRecord } from "@vocalhost/protocol";
import type { Tone } from "../ui/badge.tsx";

export interface AgentState {
  word: string;
  tone: Tone;
  /** Why, or what it means. */
  reason: string;
}

/** What an agent is doing, in words, and why. */
export function toAgentState(record: AgentRecord): AgentState {
  const { currentRevision: revision, errors = [] } = record;
  const serves = record.available ? "the previous version still serves" : "no sessions can start";
  if (isDeleting(record))
    return { word: "Deleting", tone: "busy", reason: "No new sessions; running ones may finish" };
  if (revision?.phase === "Failed")
    return {
      word: "Failed",
      tone: "bad",
      reason: `${errors[0]?.message ?? "The rollout failed"} (${serves})`,
    };
  if (revision?.phase === "Creating" || revision?.phase === "Validating") {
    const crashes = revision.health?.restartCount ?? 0;
    if (crashes > 0)
      return {
        word: "Crashing",
        tone: "bad",
        reason: `Crashed ${times(crashes)} while starting and is being retried; ${serves}`,
      };
    const step = revision.phase === "Creating" ? "is being prepared" : "is waiting for its first instance";
    return { word: "Rolling out", tone: "busy", reason: `The new deployment ${step}; ${serves}` };
  }
  const crashes = revision?.health?.restartCount ?? 0;
  if (crashes > 0)
    return {
      word: record.available ? "Degraded" : "Crashing",
      tone: "bad",
      reason: `Instances crashed ${times(crashes)}; retries are backing off`,
    };
  if (!record.available) return { word: "Unavailable", tone: "bad", reason: "No sessions can start" };
  if (record.autoScaling.minReplicas === 0 && (revision?.readyReplicas ?? 0) === 0)
    return { word: "Ready", tone: "good", reason: "Scaled to zero: the next session starts an instance" };
  return { word: "Ready", tone: "good", reason: "Sessions can start" };
}

export function isDeleting({ conditions = [] }: AgentRecord): boolean {
  return conditions.some(({ type, reason }) => type === "Available" && reason === "Deleting");
}

function times(count: number): string {
  return count === 1 ? "once" : `${count} times`;
}
