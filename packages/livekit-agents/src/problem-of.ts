/** Returns the message of an error, in the shapes in which the library reports it. */
export function problemOf(error: unknown): string {
  const problem = isWrapped(error) ? error.error : error;
  return problem instanceof Error ? problem.message : "its log says more";
}

/** Whether the library retries by itself. */
export function isRecoverable(error: unknown): boolean {
  return isWrapped(error) && error.recoverable === true;
}

function isWrapped(error: unknown): error is { error: unknown; recoverable?: unknown } {
  return typeof error === "object" && error !== null && "error" in error;
}
