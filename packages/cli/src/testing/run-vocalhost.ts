import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { childEnvironment } from "../config.ts";
import { commandLine } from "../../../../testing/programs.ts";

const DEADLINE_MS = 60_000; // a loaded machine takes its time to start a process

export interface FinishedProgram {
  exitCode: number | null;
  output: string;
  errors: string;
}

export interface RunningProgram {
  readonly child: ChildProcess;
  readonly finished: Promise<FinishedProgram>;
}

/** The real program in a process of its own, without a terminal. */
export function startVocalhost(...words: string[]): RunningProgram {
  return startVocalhostAt({}, ...words);
}

/** In another folder, or with other variables. */
export function startVocalhostAt(
  place: { folder?: string; environment?: Record<string, string> },
  ...words: string[]
): RunningProgram {
  const child = spawn(process.execPath, [commandLine, ...words], {
    stdio: ["ignore", "pipe", "pipe"],
    timeout: DEADLINE_MS,
    cwd: place.folder ?? process.cwd(),
    env: childEnvironment(place.environment),
  });
  return { child, finished: collect(child) };
}

export function runVocalhost(...words: string[]): Promise<FinishedProgram> {
  return startVocalhost(...words).finished;
}

async function collect(child: ChildProcess): Promise<FinishedProgram> {
  let output = "";
  let errors = "";
  child.stdout?.on("data", (piece: Buffer) => (output += piece.toString()));
  child.stderr?.on("data", (piece: Buffer) => (errors += piece.toString()));
  const [exitCode] = (await once(child, "close")) as [number | null];
  return { exitCode, output, errors };
}
