// Types, lint, English and format.
import { spawn } from "node:child_process";

const CHECKS = ["types", "lint", "lint:words", "format:check"];

/** Runs all checks at once and prints each result as soon as it is known. */
export async function runChecks(): Promise<boolean> {
  const results = await Promise.all(
    CHECKS.map(async (name) => {
      const { code, output } = await npmRun(name);
      console.log(code === 0 ? `✔ ${name}` : `\n✖ ${name}\n${output}`);
      return code === 0;
    }),
  );
  return results.every(Boolean);
}

async function npmRun(name: string): Promise<{ code: number | null; output: string }> {
  const child = spawn("npm", ["run", "--silent", name], { stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return { code, output };
}
