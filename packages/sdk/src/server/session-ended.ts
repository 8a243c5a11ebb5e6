import type { EndReason } from "../transports/session-hooks.ts";

/** Why a session's signal aborted. Whatever waited with the signal can throw it as it is. */
export class SessionEnded extends Error {
  override readonly name = "AbortError"; // by this name everybody tells an end that was asked for from a failure
  readonly reason: EndReason;

  constructor(reason: EndReason) {
    super(`The session ended: ${reason}`);
    this.reason = reason;
  }
}
