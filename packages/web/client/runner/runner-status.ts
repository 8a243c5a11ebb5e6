/** What the runner says about itself. */
export type RunnerStatus =
  | { kind: "looking" }
  | { kind: "ready"; transports: string[] }
  | { kind: "unreachable" };

const STATUS_TIMEOUT_MS = 4_000;

export async function readRunnerStatus(): Promise<RunnerStatus> {
  try {
    const response = await fetch("/status", {
      signal: AbortSignal.timeout(STATUS_TIMEOUT_MS),
      cache: "no-store",
    });
    const answer: unknown = response.ok ? await response.json() : undefined;
    return parseStatus(answer) ?? { kind: "unreachable" };
  } catch {
    return { kind: "unreachable" };
  }
}

function parseStatus(answer: unknown): RunnerStatus | undefined {
  if (typeof answer !== "object" || answer === null || !("transports" in answer)) return undefined;
  if (!Array.isArray(answer.transports)) return undefined;
  const transports = answer.transports.filter((name) => typeof name === "string");
  return { kind: "ready", transports };
}
