import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { watchProcess, type WatchedProcess } from "./watched-process.ts";
import { nodeFlagsFor } from "../../testing/programs.ts";

/** A runner in a process of its own, as a developer would start it. */
export interface RunnerProcess extends WatchedProcess {
  readonly url: string;
  readonly port: number;
}

export interface RunnerProcessOptions {
  /** The bot's file, from the repository's root. */
  bot: string;
  flags?: string[];
  environment?: Record<string, string>;
  workingFolder?: string;
}

const REPOSITORY = fileURLToPath(new URL("../../", import.meta.url));

/** Starts a runner on a free port and resolves when it says where to talk to it. */
export async function startRunnerProcess(options: RunnerProcessOptions): Promise<RunnerProcess> {
  const started = spawnRunner(options);
  const [, address] = await started.printed(/Talk to it\s+(http:\/\/\S+)/).catch((error: unknown) => {
    started.process.kill("SIGKILL"); // no test gets to end it
    throw error;
  });
  const url = new URL(address ?? "");
  return Object.assign(started, { url: url.origin, port: Number(url.port) });
}

/** Starts a runner that may refuse to start. */
export function spawnRunner(options: RunnerProcessOptions): WatchedProcess {
  const bot = `${REPOSITORY}${options.bot}`;
  const flags = options.flags?.includes("--port") ? [] : ["--port", "0"];
  const child = spawn(process.execPath, [...nodeFlagsFor(bot), bot, ...flags, ...(options.flags ?? [])], {
    cwd: options.workingFolder ?? REPOSITORY,
    env: { ...process.env, ...options.environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  return watchProcess(child, "runner");
}
