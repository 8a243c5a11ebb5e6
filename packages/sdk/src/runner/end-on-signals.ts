import type { Log } from "../log.ts";
import type { Runner } from "./start-runner.ts";

/** The first signal ends in order, the second at once. */
export function endOnSignals(runner: Runner, log: Log): void {
  let ending = false;
  const onSignal = (signal: NodeJS.Signals): void => {
    if (ending) process.exit(1);
    ending = true;
    log.info({ signal, sessions: runner.sessionCount }, "shutting down, once more to force");
    runner[Symbol.asyncDispose]().then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ err: error }, "shutdown failed");
        process.exit(1);
      },
    );
  };
  process.on("SIGINT", onSignal);
  process.on("SIGTERM", onSignal);
}
