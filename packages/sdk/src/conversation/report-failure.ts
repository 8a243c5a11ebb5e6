import { logOf } from "../session-hooks.ts";
import type { Transport } from "../transports/transport.ts";

/** Tells log and client that a service or a tool failed. Gives the error, for who wants to know more. */
export function reportFailure(transport: Transport, error: unknown): Error {
  const failure = error instanceof Error ? error : new Error(String(error));
  const isOfService = failure.name === "ServiceError";
  // Of a service that is out of order nobody needs a stack; what it answered may quote speech, and stays out of the log.
  const fields = isOfService ? { problem: failure.message, why: reasonOf(failure.cause) } : { err: failure };
  logOf(transport)?.warn(fields, "conversation failed");
  transport.rtvi.error(failure.message);
  return failure;
}

function reasonOf(cause: unknown): string | undefined {
  if (!(cause instanceof Error)) return undefined;
  return cause.cause instanceof Error ? `${cause.message}: ${cause.cause.message}` : cause.message;
}
