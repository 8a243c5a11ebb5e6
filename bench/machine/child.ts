import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { launch } from "./launch.ts";

/** A Node process of ours, on a core of its own and before others in line. */
export interface Child extends AsyncDisposable {
  readonly pid: number;
  readonly process: ChildProcess;
  output(): string;
  /** Resolves with how it ended. */
  readonly ended: Promise<string>;
}

export interface ChildOptions {
  /** From the repository's root. */
  file: string;
  args?: string[];
  nodeFlags?: string[];
  core?: number;
  environment?: Record<string, string>;
}

export const REPOSITORY: string = fileURLToPath(new URL("../../", import.meta.url));
const END_MS = 8_000;

export function startChild(options: ChildOptions): Child {
  const args = [
    "--conditions=@vocalhost/source",
    ...(options.nodeFlags ?? []),
    `${REPOSITORY}${options.file}`,
    ...(options.args ?? []),
  ];
  const child = launch(process.execPath, args, {
    core: options.core,
    cwd: REPOSITORY,
    env: { ...process.env, ...options.environment },
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  const pid = child.pid ?? 0;
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (text: string) => {
      if (output.length < 1e6) output += text;
    });
  const ended = once(child, "exit").then(([code, signal]) => String(code ?? signal));
  return {
    pid,
    process: child,
    output: () => output,
    ended,
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill("SIGTERM");
      const timer = setTimeout(() => child.kill("SIGKILL"), END_MS);
      await ended;
      clearTimeout(timer);
    },
  };
}

/** Resolves with the first match in what the process prints. */
export async function printed(child: Child, pattern: RegExp, timeoutMs = 20_000): Promise<RegExpExecArray> {
  const deadlineMs = performance.now() + timeoutMs;
  for (;;) {
    const match = pattern.exec(child.output());
    if (match) return match;
    if (child.process.exitCode !== null || performance.now() > deadlineMs)
      throw new Error(`No ${pattern} in:\n${child.output()}`);
    await pause(2);
  }
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
