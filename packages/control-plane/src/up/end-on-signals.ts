import type { Log } from "../log.ts";
import type { Service } from "./service.ts";

/** The first signal ends in order, the second at once. */
export function endOnSignals(service: Service, log: Log): void {
  let ending = false;

  function onSignal(signal: NodeJS.Signals): void {
    if (ending) process.exit(1);
    ending = true;
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
    if (!ending) process.exit(code || 1);
  });
}
