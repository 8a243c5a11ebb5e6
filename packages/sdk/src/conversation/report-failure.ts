import { logOf } from "../transports/session-hooks.ts";
import type { Transport } from "../transports/transport.ts";
import { ServiceFailure } from "./service-failure.ts";

/** Reports a failed service or tool to the log and the client. Returns the error. */
export function reportFailure(transport: Transport, error: unknown): Error {
  const failure = error instanceof Error ? error : new Error(String(error));
  logOf(transport)?.warn(fieldsOf(failure), "conversation failed");
  transport.rtvi.error(failure.message);
  return failure;
}

function fieldsOf(failure: Error): Record<string, unknown> {
  const isStaged = failure instanceof ServiceFailure;
  const cause = isStaged ? failure.cause : failure;
  // The stack of a service's error is of no use, and its answer may quote speech; neither is logged.
  const isOfService = cause instanceof Error && ["ServiceError", "TimeoutError"].includes(cause.name);
  return {
    ...(isStaged ? { stage: failure.stage, vendor: failure.vendor } : {}),
    ...(isStaged || isOfService ? { problem: failure.message } : {}),
    ...(isOfService ? { why: reasonOf(cause.cause) } : { err: cause }),
  };
}

function reasonOf(cause: unknown): string | undefined {
  if (!(cause instanceof Error)) return undefined;
  return cause.cause instanceof Error ? `${cause.message}: ${cause.cause.message}` : cause.message;
}
