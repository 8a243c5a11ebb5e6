// Types, lint and format.
import { spawn } from "node:child_process";

/** Runs all three at once and prints the result of each as soon as it is known; false if one fails. */
export async function runChecks(installed: Promise<void>): Promise<boolean> {
  const typed = installed.then(() => Promise.all([runCheck("types"), runCheck("lint")]));
  const results = await Promise.all([runCheck("format:check"), typed]);
  return results.flat().every(Boolean);
}

async function runCheck(name: string): Promise<boolean> {
  const child = spawn("npm", ["run", "--silent", name], { stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  console.log(code === 0 ? `✔ ${name}` : `\n✖ ${name}\n${output}`);
  return code === 0;
}
