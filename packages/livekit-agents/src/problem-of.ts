/** What went wrong, of the shapes in which the library tells it. */
export function problemOf(error: unknown): string {
  const problem = isWrapped(error) ? error.error : error;
  return problem instanceof Error ? problem.message : "its log says more";
}

/** The library tries again by itself. */
export function isRecoverable(error: unknown): boolean {
  return isWrapped(error) && error.recoverable === true;
}

function isWrapped(error: unknown): error is { error: unknown; recoverable?: unknown } {
  return typeof error === "object" && error !== null && "error" in error;
}
