import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { stripTypeScriptTypes } from "node:module";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { BuildProblem } from "./build-problem.ts";

const run = promisify(execFile);
const CHECK_MS = 30_000;

/** Checks that Node can parse the bot's file, without running it. */
export async function checkBotFile(folder: string, botFile: string): Promise<void> {
  const path = join(folder, botFile);
  if (!path.endsWith(".ts")) return checkSyntax(path, botFile);
  const text = withoutTypes(await readFile(path, "utf8"), botFile);
  const temporary = await mkdtemp(join(tmpdir(), "vocalhost-check-"));
  try {
    const plain = join(temporary, `${basename(botFile, ".ts")}.mjs`);
    await writeFile(plain, text);
    await checkSyntax(plain, botFile);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
  return undefined;
}

function withoutTypes(text: string, botFile: string): string {
  try {
    return stripTypeScriptTypes(text);
  } catch (cause) {
    throw new BuildProblem(
      `${botFile} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`,
      {
        cause,
      },
    );
  }
}

async function checkSyntax(path: string, botFile: string): Promise<void> {
  try {
    await run(process.execPath, ["--check", path], { timeout: CHECK_MS });
  } catch (cause) {
    const { stderr = "" } = cause as { stderr?: string };
    const reason = /^\w*Error: .*$/m.exec(stderr)?.[0] ?? "it is no JavaScript Node understands";
    const line = /^\S+:(\d+)$/m.exec(stderr)?.[1];
    throw new BuildProblem(`${botFile}${line === undefined ? "" : `, line ${line}`}: ${reason}`, { cause });
  }
}
