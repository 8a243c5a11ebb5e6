import type { EndReason } from "../transports/session-hooks.ts";

/** State of an instance's lease. It changes only through `nextLease`. */
export type LeaseState = { readonly epoch: number } & (
  | { readonly phase: "free" }
  | {
      readonly phase: "open";
      readonly sessionId: string;
      /** Whether a WebSocket has taken the session. */
      readonly hasSocket: boolean;
      /** When a stop was first requested, in milliseconds since the start. */
      readonly stopAskedMs: number | undefined;
    }
  /** The session has ended, and its exit record was written if that was possible. */
  | { readonly phase: "over"; readonly sessionId: string }
);

export type LeaseEvent =
  | { type: "start"; epoch: number; sessionId: string }
  | { type: "stop"; epoch: number; sessionId: string; reason: EndReason; elapsedMs: number }
  | { type: "socket"; sessionId: string | undefined; isWaiting: boolean }
  | { type: "recorded" };

export type LeaseEffect =
  | { type: "open-session" }
  | { type: "end-session"; reason: EndReason }
  | { type: "admit-socket" }
  | { type: "refuse"; code: "EPOCH_STALE" | "INSTANCE_TAKEN" };

/** Decides about a command of a controller, or a change of the session. */
export function nextLease(state: LeaseState, event: LeaseEvent): [LeaseState, LeaseEffect[]] {
  switch (event.type) {
    case "start":
      return started(state, event);
    case "stop":
      return stopped(state, event);
    case "socket":
      if (state.phase !== "open" || state.hasSocket || !event.isWaiting) return [state, []];
      if (state.sessionId !== event.sessionId) return [state, []];
      return [{ ...state, hasSocket: true }, [{ type: "admit-socket" }]];
    case "recorded":
      if (state.phase !== "open") return [state, []];
      return [{ epoch: state.epoch, phase: "over", sessionId: state.sessionId }, []];
    default:
      return event satisfies never;
  }
}

function started(
  state: LeaseState,
  { epoch, sessionId }: LeaseEvent & { type: "start" },
): [LeaseState, LeaseEffect[]] {
  if (epoch < state.epoch) return [state, [{ type: "refuse", code: "EPOCH_STALE" }]];
  if (state.phase === "free")
    return [
      { epoch, phase: "open", sessionId, hasSocket: false, stopAskedMs: undefined },
      [{ type: "open-session" }],
    ];
  const next = { ...state, epoch };
  // A start may be repeated when its answer was lost.
  return [next, state.sessionId === sessionId ? [] : [{ type: "refuse", code: "INSTANCE_TAKEN" }]];
}

function stopped(
  state: LeaseState,
  { epoch, sessionId, reason, elapsedMs }: LeaseEvent & { type: "stop" },
): [LeaseState, LeaseEffect[]] {
  if (epoch < state.epoch) return [state, [{ type: "refuse", code: "EPOCH_STALE" }]];
  const next = { ...state, epoch };
  if (next.phase !== "open" || next.sessionId !== sessionId) return [next, []];
  return [{ ...next, stopAskedMs: next.stopAskedMs ?? elapsedMs }, [{ type: "end-session", reason }]];
}
