import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { childEnvironment } from "../config.ts";
import type { CommandContext } from "../define-command.ts";
import { Problem } from "../problem.ts";
import { findService } from "../up/find-service.ts";
import { toServiceVariables, type OperateOptions } from "./operate-options.ts";

export interface Operation {
  words: string[];
  options: OperateOptions;
  /** What is going on, for people. */
  title: string;
}

/** Runs the service's own program for it, with its progress shown, and gives its last word. */
export async function runOperation<Done>(
  operation: Operation,
  { ui, signal }: CommandContext,
): Promise<Done> {
  return ui.task(operation.title, (update) =>
    askProgram<Done>(operation, { signal, progress: (text) => update(undefined, text) }),
  );
}

export async function askProgram<Done>(
  operation: Omit<Operation, "title">,
  { signal, progress }: { signal: AbortSignal; progress?(text: string | undefined): void },
): Promise<Done> {
  const { file, nodeOptions } = findService("operate");
  const child = spawn(process.execPath, [...nodeOptions, file, ...operation.words], {
    env: childEnvironment(toServiceVariables(operation.options)),
    stdio: ["ignore", "pipe", "pipe"],
    signal,
    killSignal: "SIGTERM",
  });
  child.on("error", () => undefined); // Ctrl-C
  let done: Done | undefined;
  let said = "";
  createInterface({ input: child.stdout }).on("line", (line) => {
    const message = JSON.parse(line) as { event: string; text?: string };
    if (message.event === "progress") progress?.(message.text);
    else done = message as Done;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => (said += text));
  const [code] = (await once(child, "close")) as [number | null];
  if (code === 0 && done !== undefined) return done;
  throw new Problem("operation_failed", said.trim() || `It ended with exit code ${code ?? "none"}`, {
    fixes: ["Which service is meant: --data-dir, --settings, or the variables of vocalhost up"],
  });
}
