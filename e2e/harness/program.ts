import { spawn } from "node:child_process";
import { once } from "node:events";
import { within } from "../../testing/wait.ts";
import { nodeFlags } from "../../testing/programs.ts";

export interface ProgramOptions {
  args?: string[];
  workingFolder: string;
  environment?: Record<string, string>;
  timeoutMs?: number;
}

/** Runs a program that ends by itself. */
export async function runProgram(
  file: string,
  options: ProgramOptions,
): Promise<{ code: number | null; output: string; errors: string }> {
  const child = spawn(process.execPath, [...nodeFlags, file, ...(options.args ?? [])], {
    cwd: options.workingFolder,
    env: { ...process.env, ...options.environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  let errors = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (errors += text));
  try {
    const [code] = (await within(once(child, "close"), options.timeoutMs ?? 20_000, `end of ${file}`)) as [
      number | null,
    ];
    return { code, output, errors };
  } catch (error) {
    child.kill("SIGKILL");
    throw new Error(`${file} went on:\n${output}${errors}`, { cause: error });
  }
}
