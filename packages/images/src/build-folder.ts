import { mkdir } from "node:fs/promises";
import { resolve } from "node:path";
import { runProgram, type RunProgramOptions } from "./run-program.ts";

/** Where an image is made, and with what. */
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
  /** For downloads and unpacked packages; what can be used again stays. */
  workFolder: string;
  /** Of programs that are started: npm, apt-get and the like. */
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
