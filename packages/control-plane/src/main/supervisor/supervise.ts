import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import type { Clock } from "@vocalhost/base/clock";
import type { Log } from "@vocalhost/base/log";
import { CONFIG_EXIT_CODE } from "@vocalhost/base/run-until-told";
import type { Timing } from "@vocalhost/base/timing";

/** A process that is restarted when it exits. */
export interface Supervised extends AsyncDisposable {
  /** Resolves with the first message of this type, from the process or a restarted one. */
  told(type: string): Promise<object>;
  /** Resolves when it has ended for good: it cannot be started, or was disposed. */
  readonly ended: Promise<number>;
  /** Sent to the current process and, as soon as it is ready, to every later one. */
  send(message: object): void;
  readonly pid: number | undefined;
}

export interface SupervisedOptions {
  name: string;
  file: string;
  environment: Record<string, string | undefined>;
  timing: Pick<Timing, "endMs" | "restartMs" | "restartResetMs" | "refusedMs">;
  clock: Clock;
  log: Log;
}

// V8 begins with 1 MiB for new objects and copies those of a start repeatedly as that grows, which takes a fifth of
// the start.
const YOUNG_SPACE = "--min-semi-space-size=16";

export function supervise(options: SupervisedOptions): Supervised {
  const { name, timing, clock, log } = options;
  const ended = Promise.withResolvers<number>();
  const waiting = new Map<string, ((message: object) => void)[]>();
  const told = new Map<string, object>();
  const said: object[] = [];
  let child: ChildProcess | undefined;
  let isEnding = false;
  let failures = 0;
  let restarts = 0;

  function start(): void {
    const startedMs = clock.monotonicMs();
    // Its own process group: the supervisor handles a Ctrl-C in the terminal.
    child = fork(options.file, [], {
      execArgv: [...process.execArgv, YOUNG_SPACE],
      env: { ...options.environment, VOCALHOST_RESTARTS: String(restarts) },
      detached: true,
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    log.info({ name, pid: child.pid }, "process started");
    child.on("message", (message: { type?: string }) => hear(message));
    child.on("error", (error) => log.error({ err: error, name }, "could not be started"));
    child.on("exit", (code, signal) => {
      const isRefusal = code === CONFIG_EXIT_CODE;
      // A process that was ready once is restarted: its settings were right, and calls go on until the cause is
      // fixed.
      if (isEnding || (isRefusal && !told.has("ready"))) return ended.resolve(code ?? 1);
      const isHealthy = clock.monotonicMs() - startedMs > timing.restartResetMs;
      restarts += 1;
      failures = isHealthy ? 1 : failures + 1;
      const restartMs = timing.restartMs[Math.min(failures, timing.restartMs.length) - 1] ?? 0;
      const waitMs = isRefusal ? timing.refusedMs : restartMs;
      log.warn({ name, code, signal, waitMs }, "process ended, starting it again");
      void clock.sleep(waitMs).then(() => (isEnding ? undefined : start()));
    });
  }

  function hear(message: { type?: string }): void {
    const { type = "" } = message;
    if (type === "ready") for (const each of said) child?.send(each);
    told.set(type, message);
    for (const resolve of waiting.get(type) ?? []) resolve(message);
    waiting.delete(type);
  }

  start();
  return {
    ended: ended.promise,
    get pid() {
      return child?.pid;
    },
    told(type) {
      const known = told.get(type);
      if (known) return Promise.resolve(known);
      return new Promise((resolve) => waiting.set(type, [...(waiting.get(type) ?? []), resolve]));
    },
    send(message) {
      said.push(message);
      if (child?.connected) child.send(message);
    },
    async [Symbol.asyncDispose]() {
      isEnding = true;
      if (!child || child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, "exit");
      child.kill("SIGTERM");
      const late = new AbortController();
      const timedOut = clock.sleep(timing.endMs, late.signal).then(() => "late");
      if ((await Promise.race([exited, timedOut])) === "late") child.kill("SIGKILL");
      await exited;
      late.abort();
    },
  };
}
