import type { Log } from "@vocalhost/base/log";
import type { Service } from "./service.ts";

// npm forwards every signal it gets, so a Ctrl-C arrives from the terminal and again from npm, late on a busy
// machine.
const ECHO_MS = 2_000;

export interface SignalOptions {
  service: Service;
  log: Log;
  /** Whether npm started the process: a signal soon after the first one is then npm's copy. */
  isUnderNpm: boolean;
}

/** The first signal shuts down in order, the second exits immediately. */
export function endOnSignals({ service, log, isUnderNpm }: SignalOptions): { isEnding(): boolean } {
  let firstMs: number | undefined;

  function onSignal(signal: NodeJS.Signals): void {
    if (firstMs !== undefined) {
      const isEcho = isUnderNpm && performance.now() - firstMs < ECHO_MS;
      return isEcho ? undefined : process.exit(1);
    }
    firstMs = performance.now();
    log.info({ signal }, "shutting down, once more to force");
    service[Symbol.asyncDispose]().then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ err: error }, "shutdown failed");
        process.exit(1);
      },
    );
  }

  process.on("SIGINT", onSignal);
  process.on("SIGTERM", onSignal);
  void service.failed.then((code) => {
    if (firstMs === undefined) process.exit(code || 1);
  });
  return { isEnding: () => firstMs !== undefined };
}
