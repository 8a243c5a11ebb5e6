import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/** A runner in a process of its own, as a developer would start it. */
export interface RunnerProcess extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly process: ChildProcess;
  /** Everything it has printed so far. */
  output(): string;
  /** Resolves once the output matches. */
  printed(pattern: RegExp, timeoutMs?: number): Promise<RegExpMatchArray>;
  /** Sends a signal and resolves with the exit code. */
  end(signal?: NodeJS.Signals): Promise<number | null>;
}

export interface RunnerProcessOptions {
  /** The bot's file, from the repository's root. */
  bot: string;
  flags?: string[];
  environment?: Record<string, string>;
  workingFolder?: string;
}

const REPOSITORY = fileURLToPath(new URL("../../", import.meta.url));
const START_DEADLINE_MS = 60_000;

/** Starts a runner on a free port and resolves when it says where to talk to it. */
export async function startRunnerProcess(options: RunnerProcessOptions): Promise<RunnerProcess> {
  const started = spawnRunner(options);
  const [, address] = await started.printed(/Talk to it\s+(http:\/\/\S+)/).catch((error: unknown) => {
    started.process.kill("SIGKILL"); // nobody gets to end it
    throw error;
  });
  const url = new URL(address ?? "");
  return Object.assign(started, { url: url.origin, port: Number(url.port) });
}

/** Starts a runner that may refuse to start. */
export function spawnRunner(options: RunnerProcessOptions): Omit<RunnerProcess, "url" | "port"> {
  const flags = options.flags?.includes("--port") ? [] : ["--port", "0"];
  const child = spawn(
    process.execPath,
    ["--conditions=@vocalhost/source", `${REPOSITORY}${options.bot}`, ...flags, ...(options.flags ?? [])],
    {
      cwd: options.workingFolder ?? REPOSITORY,
      env: { ...process.env, ...options.environment },
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  let output = "";
  const watchers = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
      for (const watcher of watchers) watcher();
    });
  const exited = once(child, "exit") as Promise<[number | null]>;
  void exited.then(() => watchers.forEach((watcher) => watcher()));

  async function printed(pattern: RegExp, timeoutMs = START_DEADLINE_MS): Promise<RegExpMatchArray> {
    const { promise, resolve, reject } = Promise.withResolvers<RegExpMatchArray>();
    const check = (): void => {
      const match = pattern.exec(output);
      if (match) resolve(match);
      else if (child.exitCode !== null)
        reject(new Error(`The runner ended with ${child.exitCode}:\n${output}`));
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
      const timer = setTimeout(() => child.kill("SIGKILL"), 12_000);
      await end();
      clearTimeout(timer);
    },
  };
}
