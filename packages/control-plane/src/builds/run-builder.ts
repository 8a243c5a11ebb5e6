import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { join } from "node:path";
import { inheritedArguments } from "@vocalhost/base/inherited-arguments";
import type { RunAs } from "@vocalhost/drivers/process/own-users";
import { giveNoPrecedence } from "@vocalhost/drivers/process/precedence";
import type { BuildFacts } from "./build-facts.ts";
import { BuilderMessage, type BuilderTask } from "./builder-messages.ts";
import { builderEnvironment } from "./config.ts";
import { ownProgram } from "@vocalhost/base/own-files";

export type BuildOutcome =
  | { status: "success"; facts: BuildFacts; bytes: number; hasDockerfile: boolean }
  | { status: "failed"; message: string }
  | { status: "timeout" };

export interface RunBuilderOptions {
  task: BuilderTask;
  timeoutMs: number;
  say(line: string): void;
  /** The builder's user, and a home folder for npm. */
  user?: (RunAs & { home: string }) | undefined;
  /** Kills the builder; the outcome is then not used. */
  signal: AbortSignal;
}

/** Runs the builder in its own process group, and kills the whole group after the timeout. */
export async function runBuilder({
  task,
  timeoutMs,
  say,
  signal,
  user,
}: RunBuilderOptions): Promise<BuildOutcome> {
  const program = ownProgram(import.meta, "builds/builder-main");
  const child = spawn(process.execPath, [...inheritedArguments(), "--no-warnings", program], {
    cwd: task.folder,
    env: {
      ...builderEnvironment(),
      ...(user ? { HOME: user.home, npm_config_cache: join(user.home, ".npm") } : {}),
    },
    ...(user ? { uid: user.uid, gid: user.gid } : {}),
    detached: true,
    stdio: ["pipe", "pipe", "pipe", "pipe"], // the last one closes when this process exits
  });
  giveNoPrecedence(child.pid);
  let outcome: BuildOutcome | undefined;
  const kill = (): void => {
    if (child.pid === undefined) return;
    try {
      process.kill(-child.pid, "SIGKILL");
    } catch {
      // it has just exited
    }
  };
  const timer = setTimeout(() => {
    outcome ??= { status: "timeout" };
    kill();
  }, timeoutMs);
  signal.addEventListener("abort", kill, { once: true });
  createInterface({ input: child.stdout }).on("line", (line) => {
    const message = parseMessage(line);
    if (message.type === "line") say(message.text);
    else if (message.type === "failed") outcome ??= { status: "failed", message: message.message };
    else {
      const { facts, bytes, hasDockerfile } = message;
      outcome ??= { status: "success", facts, bytes, hasDockerfile };
    }
  });
  createInterface({ input: child.stderr }).on("line", say);
  child.stdin.on("error", () => undefined); // it exited before reading its task; the outcome reports this
  child.stdin.end(JSON.stringify(task));
  const { promise, resolve } = Promise.withResolvers<string>();
  child.once("error", (error) => resolve(error.message));
  child.once("close", (code, name) => resolve(name ?? `exit code ${code}`));
  const how = await promise;
  clearTimeout(timer);
  signal.removeEventListener("abort", kill);
  kill(); // kills child processes it left running
  return outcome ?? { status: "failed", message: `The builder ended without a result (${how})` };
}

function parseMessage(line: string): BuilderMessage {
  try {
    return BuilderMessage.parse(JSON.parse(line));
  } catch {
    return { type: "line", text: line };
  }
}
