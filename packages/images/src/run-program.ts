import { execFile } from "node:child_process";

/** A program that is needed to make an image failed or is not there. */
export class BuildProblem extends Error {
  override readonly name = "BuildProblem";
  /** The end of what it printed. */
  readonly output: string;

  constructor(message: string, output = "") {
    super(message);
    this.output = output;
  }
}

export interface RunProgramOptions {
  /** Its purpose in messages, such as "to download Debian's packages". */
  purpose: string;
  cwd: string;
  environment: NodeJS.ProcessEnv;
  timeoutMs: number;
  signal?: AbortSignal | undefined;
}

const OUTPUT_MAX_BYTES = 16 * 1024 * 1024;
const TOLD_CHARACTERS = 2_000;

/** Gives what it printed to standard output. */
export function runProgram(
  program: string,
  args: readonly string[],
  { purpose, cwd, environment, timeoutMs, signal }: RunProgramOptions,
): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  execFile(
    program,
    [...args],
    { cwd, env: environment, timeout: timeoutMs, signal, maxBuffer: OUTPUT_MAX_BYTES },
    (error, stdout, stderr) => {
      if (!error) return resolve(stdout);
      if (signal?.aborted) return reject(error);
      const output = `${stdout}\n${stderr}`.trim().slice(-TOLD_CHARACTERS);
      const why =
        (error as NodeJS.ErrnoException).code === "ENOENT"
          ? `${program} is not installed`
          : error.killed
            ? `${program} took longer than ${Math.round(timeoutMs / 1000)} s`
            : `${program} failed`;
      return reject(new BuildProblem(`${why}; it is needed ${purpose}`, output));
    },
  );
  return promise;
}
