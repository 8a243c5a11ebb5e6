import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { patientMs } from "../../testing/patience.ts";

/** A program whose output is read, and which ends with the process that started it. */
export interface WatchedProcess extends AsyncDisposable {
  readonly process: ChildProcess;
  /** Everything it has printed so far. */
  output(): string;
  /** Resolves once the output matches. */
  printed(pattern: RegExp, quietMs?: number): Promise<RegExpMatchArray>;
  /** Sends a signal and resolves with the exit code. */
  end(signal?: NodeJS.Signals): Promise<number | null>;
}

const PRINT_DEADLINE_MS = 60_000;
const END_DEADLINE_MS = 12_000;

export function watchProcess(child: ChildProcess, name: string): WatchedProcess {
  let output = "";
  const watchers = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (text: string) => {
      output += text;
      for (const watcher of watchers) watcher();
    });
  const exited = once(child, "exit") as Promise<[number | null]>;
  void exited.then(() => watchers.forEach((watcher) => watcher()));

  async function printed(pattern: RegExp, quietMs = PRINT_DEADLINE_MS): Promise<RegExpMatchArray> {
    const timeoutMs = patientMs(quietMs);
    const { promise, resolve, reject } = Promise.withResolvers<RegExpMatchArray>();
    const check = (): void => {
      const match = pattern.exec(output);
      if (match) resolve(match);
      else if (child.exitCode !== null)
        reject(new Error(`The ${name} ended with ${child.exitCode}:\n${output}`));
    };
    const timer = setTimeout(
      () => reject(new Error(`No ${pattern} within ${timeoutMs} ms in:\n${output}`)),
      timeoutMs,
    );
    watchers.add(check);
    check();
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      watchers.delete(check);
    }
  }

  async function end(signal: NodeJS.Signals = "SIGTERM"): Promise<number | null> {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    const [code] = await exited;
    return code;
  }

  return {
    process: child,
    output: () => output,
    printed,
    end,
    async [Symbol.asyncDispose]() {
      const timer = setTimeout(() => {
        process.stderr.write(
          `The ${name} does not end when asked, and is killed:\n${output.slice(-2_000)}\n`,
        );
        child.kill("SIGKILL");
      }, patientMs(END_DEADLINE_MS));
      await end();
      clearTimeout(timer);
    },
  };
}
