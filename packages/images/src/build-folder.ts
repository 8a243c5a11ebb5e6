import { mkdir } from "node:fs/promises";
import { resolve } from "node:path";
import { runProgram, type RunProgramOptions } from "./run-program.ts";

/** The settings by which an image is made. */
export interface BuildFolder {
  /** May be removed at any time when nothing is being made. */
  folder: string;
  run(
    program: string,
    args: readonly string[],
    options: Pick<RunProgramOptions, "purpose" | "timeoutMs"> & {
      cwd?: string;
      environment?: NodeJS.ProcessEnv;
    },
  ): Promise<string>;
}

export interface BuildFolderOptions {
  /** Holds downloads and unpacked packages; those that can be used again stay. */
  workFolder: string;
  /** Environment of the programs that are started, such as npm and apt-get. */
  environment: NodeJS.ProcessEnv;
  signal?: AbortSignal | undefined;
}

export async function openBuildFolder({
  workFolder,
  environment,
  signal,
}: BuildFolderOptions): Promise<BuildFolder> {
  const folder = resolve(workFolder);
  await mkdir(folder, { recursive: true });
  return {
    folder,
    run: (program, args, options) =>
      runProgram(program, args, { cwd: folder, environment, signal, ...options }),
  };
}
