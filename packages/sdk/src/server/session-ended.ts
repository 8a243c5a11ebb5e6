import type { EndReason } from "../transports/session-hooks.ts";

/** The reason with which a session's signal aborts. Code that waited with the signal can rethrow it. */
export class SessionEnded extends Error {
  override readonly name = "AbortError"; // the usual name by which callers tell a requested end from a failure
  readonly reason: EndReason;

  constructor(reason: EndReason) {
    super(`The session ended: ${reason}`);
    this.reason = reason;
  }
}
