import { z } from "zod";

/** How a session went, in one word of a fixed set; our own `status` and `endReason` say more. */
export const EndState = z.enum([
  "active",
  "completed",
  "ended_before_agent_start",
  "agent_start_timeout",
  "terminated",
  "agent_error",
  "unknown",
]);
export type EndState = z.infer<typeof EndState>;

/** The states and reasons of sessions that a word stands for; reasons that are in no row are unknown. */
export interface EndStateRow {
  endState: EndState;
  status: string;
  /** @default any */
  reasons?: readonly string[];
}

export const endStateRows: readonly EndStateRow[] = [
  { endState: "active", status: "pending" },
  { endState: "active", status: "starting" },
  { endState: "active", status: "active" },
  { endState: "active", status: "stopping" },
  { endState: "completed", status: "ended", reasons: ["bot-finished", "client-left", "client-lost"] },
  { endState: "terminated", status: "ended", reasons: ["stopped", "deadline", "shutdown"] },
  { endState: "agent_error", status: "ended", reasons: ["bot-failed", "instance-lost"] },
  { endState: "ended_before_agent_start", status: "ended", reasons: ["never-connected"] },
  { endState: "agent_start_timeout", status: "failed", reasons: ["start-timed-out"] },
  { endState: "agent_error", status: "failed", reasons: ["start-failed"] },
  { endState: "ended_before_agent_start", status: "expired" },
];

export function endStateOf({ status, endReason }: { status: string; endReason: string | null }): EndState {
  const row = endStateRows.find(
    (each) => each.status === status && (each.reasons?.includes(endReason ?? "") ?? true),
  );
  return row?.endState ?? "unknown";
}
