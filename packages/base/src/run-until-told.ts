import { flushCompileCache } from "node:module";
import { ConfigError } from "./config-error.ts";
import type { Log } from "./log.ts";

export interface RunOptions {
  log: Log;
  start(): Promise<AsyncDisposable>;
}

/** Exit code of a process that must not be restarted: the operator has to change a setting. */
export const CONFIG_EXIT_CODE = 78;
const LATE_MS = 15_000;

/** Runs until SIGTERM, or until the supervisor is gone. A second signal exits immediately. */
export async function runUntilTold({ log, start }: RunOptions): Promise<void> {
  let ending = false;
  let running: AsyncDisposable;
  process.on("SIGTERM", () => end("SIGTERM"));
  process.on("SIGINT", () => undefined); // the terminal sends it here too; the supervisor decides
  process.on("disconnect", () => end("the supervisor is gone"));
  process.on("uncaughtException", (error) => {
    if (error instanceof ConfigError) refuse(error);
    log.error({ err: error }, "unexpected failure, ending");
    process.exit(1);
  });
  try {
    running = await start();
    flushCompileCache(); // the next start profits even if this process is killed later
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
