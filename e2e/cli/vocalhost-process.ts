import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { within } from "../../testing/wait.ts";
import { watchProcess, type WatchedProcess } from "../harness/watched-process.ts";
import { commandLine, nodeFlags } from "../../testing/programs.ts";

const MANY_LINES = fileURLToPath(new URL("./command-lines.ts", import.meta.url));
const SOON_MS = 90_000; // a loaded machine takes its time to start processes

/** A developer's machine: a folder, and a place for credentials. */
export interface Desk {
  folder: string;
  environment: Record<string, string>;
  /** Put before the command, to run it in another network. */
  within?: readonly string[];
}

export interface Finished {
  exitCode: number | null;
  output: string;
  errors: string;
}

/** `vocalhost` without a terminal, until it ends. */
export function vocalhost(desk: Desk, words: string[], input?: string): Promise<Finished> {
  return finish(desk, [commandLine, ...words], input);
}

/** Another program of this repository, at the same desk. */
export function program(desk: Desk, words: string[]): Promise<Finished> {
  return finish(desk, [...nodeFlags, ...words]);
}

/** One process that runs one line after the other; for lines that read nothing from standard input. */
export interface CommandLines extends AsyncDisposable {
  run(words: string[]): Promise<Finished>;
}

export function openCommandLines(desk: Desk): CommandLines {
  const child = spawn(process.execPath, [...nodeFlags, MANY_LINES], {
    cwd: desk.folder,
    env: cleanEnvironment(desk),
    stdio: ["pipe", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async run(words) {
      child.stdin.write(`${JSON.stringify(words)}\n`);
      const { value } = await within(answers.next(), SOON_MS, words.join(" "));
      if (value === undefined) throw new Error(`vocalhost ${words.join(" ")} ended the process`);
      return JSON.parse(value) as Finished;
    },
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      await exited;
    },
  };
}

async function finish(desk: Desk, words: string[], input?: string): Promise<Finished> {
  const [command, ...before] = [...(desk.within ?? []), process.execPath];
  const child = spawn(command, [...before, ...words], {
    cwd: desk.folder,
    env: cleanEnvironment(desk),
    stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
  });
  let [output, errors] = ["", ""];
  child.stdout?.setEncoding("utf8").on("data", (text: string) => (output += text));
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (errors += text));
  child.stdin?.end(input);
  try {
    const [exitCode] = (await within(once(child, "close"), SOON_MS, words.join(" "))) as [number | null];
    return { exitCode, output, errors };
  } catch (error) {
    child.kill("SIGKILL");
    throw new Error(`${words.join(" ")} went on:\n${output}${errors}`, { cause: error });
  }
}

/** The same, watched while it runs. */
export function startVocalhost(desk: Desk, words: string[]): WatchedProcess {
  const child = spawn(process.execPath, [commandLine, ...words], {
    cwd: desk.folder,
    env: cleanEnvironment(desk),
    stdio: ["ignore", "pipe", "pipe"],
  });
  return watchProcess(child, `vocalhost ${words.join(" ")}`);
}

/** On a terminal, which `script` makes up; what is written to its input are keys. */
export function startOnTerminal(desk: Desk, words: string[]): WatchedProcess {
  const line = [process.execPath, commandLine, ...words].map((word) => `'${word}'`).join(" ");
  const child = spawn("script", ["-qefc", `stty cols 120 rows 40; ${line}`, "/dev/null"], {
    cwd: desk.folder,
    stdio: ["pipe", "pipe", "pipe"],
    env: { ...cleanEnvironment(desk), TERM: "xterm" },
  });
  return watchProcess(child, `vocalhost ${words.join(" ")}`);
}

/** An environment without the settings of the user who runs the tests. */
function cleanEnvironment({ environment }: Desk): NodeJS.ProcessEnv {
  const { CI: _ci, VOCALHOST_API_KEY: _key, VOCALHOST_API_URL: _url, ...own } = process.env;
  return { ...own, ...environment };
}
