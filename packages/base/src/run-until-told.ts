import { flushCompileCache } from "node:module";
import { ConfigError } from "./config-error.ts";
import type { Log } from "./log.ts";

export interface RunOptions {
  log: Log;
  start(): Promise<AsyncDisposable>;
}

/** Exit code of a process that must not be started again: the operator has something to change. */
export const CONFIG_EXIT_CODE = 78;
const LATE_MS = 15_000;

/** Runs until SIGTERM, or until whoever supervises us is gone. A second signal ends at once. */
export async function runUntilTold({ log, start }: RunOptions): Promise<void> {
  let ending = false;
  let running: AsyncDisposable;
  process.on("SIGTERM", () => end("SIGTERM"));
  process.on("SIGINT", () => undefined); // the terminal's Ctrl-C reaches us too; the supervisor decides
  process.on("disconnect", () => end("the supervisor is gone"));
  process.on("uncaughtException", (error) => {
    if (error instanceof ConfigError) refuse(error);
    log.error({ err: error }, "unexpected failure, ending");
    process.exit(1);
  });
  try {
    running = await start();
    flushCompileCache(); // the next life shall profit even if this one is killed
  } catch (error) {
    if (error instanceof ConfigError) refuse(error);
    log.error({ err: error }, "could not start");
    process.exit(1);
  }

  function refuse({ message }: ConfigError): never {
    process.stderr.write(`${message}\n`);
    process.exit(CONFIG_EXIT_CODE);
  }

  function end(why: string): void {
    if (ending) process.exit(1);
    ending = true;
    log.info({ why }, "ending");
    setTimeout(() => process.exit(1), LATE_MS).unref();
    Promise.resolve(running?.[Symbol.asyncDispose]()).then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ err: error }, "did not end cleanly");
        process.exit(1);
      },
    );
  }
}
