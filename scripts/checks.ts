// Types, lint and format.
import { spawn } from "node:child_process";

const CHECKS = ["types", "lint", "format:check"];

/** One after the other; says what is wrong as soon as it is known. */
export async function runChecks(): Promise<boolean> {
  let isGood = true;
  for (const name of CHECKS) {
    const { code, output } = await npmRun(name);
    if (code === 0) console.log(`✔ ${name}`);
    else console.log(`\n✖ ${name}\n${output}`);
    isGood &&= code === 0;
  }
  return isGood;
}

async function npmRun(name: string): Promise<{ code: number | null; output: string }> {
  const child = spawn("npm", ["run", "--silent", name], { stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return { code, output };
}
