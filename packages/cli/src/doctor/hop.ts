/** One thing on the way between a caller and a bot, and how it is. */
export interface Hop {
  name: string;
  state: "ok" | "warning" | "failed" | "skipped";
  says: string;
  fixes: string[];
}

export function ok(name: string, says: string): Hop {
  return { name, state: "ok", says, fixes: [] };
}

export function warning(name: string, says: string, ...fixes: string[]): Hop {
  return { name, state: "warning", says, fixes };
}

export function failed(name: string, says: string, ...fixes: string[]): Hop {
  return { name, state: "failed", says, fixes };
}

export function skipped(name: string, says: string): Hop {
  return { name, state: "skipped", says, fixes: [] };
}

/** A sentence about an error, from as deep as it was found. */
export function reasonOf(error: unknown): string {
  let cause = error;
  while (cause instanceof Error && cause.cause instanceof Error) cause = cause.cause;
  if (cause instanceof AggregateError && cause.errors[0] instanceof Error) cause = cause.errors[0];
  return cause instanceof Error ? cause.message || cause.name : String(cause);
}
