import type { Log } from "../log.ts";
import type { Runner } from "./start-runner.ts";

const AT_ONCE_MS = 3_000; // usually a few hundredths of it; a busy machine needs more

/** The first signal ends in order, the second at once. So does losing whoever reads our output. Gives the orderly end. */
export function endOnSignals(runner: Runner, log: Log): () => void {
  let ending = false;

  function endInOrder(): void {
    if (ending) return;
    ending = true;
    runner[Symbol.asyncDispose]().then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ err: error }, "shutdown failed");
        process.exit(1);
      },
    );
  }

  function onSignal(signal: NodeJS.Signals): void {
    if (ending) return exitAtOnce(runner);
    log.info({ signal, sessions: runner.sessionCount }, "shutting down, once more to force");
    endInOrder();
  }

  process.on("SIGINT", onSignal);
  process.on("SIGTERM", onSignal);
  // `node bot.ts | head`, or a parent that died. Every further line would fail again: say no more and go.
  for (const output of [process.stdout, process.stderr]) output.on("error", endInOrder);
  return endInOrder;
}

// With live peer connections process.exit() would wait for their threads for ever.
function exitAtOnce(runner: Runner): void {
  setTimeout(() => process.kill(process.pid, "SIGKILL"), AT_ONCE_MS);
  void runner.abandon().finally(() => process.exit(1));
}
