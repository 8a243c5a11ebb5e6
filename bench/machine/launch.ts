import { spawn, type ChildProcess, type SpawnOptions } from "node:child_process";
import { availableParallelism } from "node:os";
import { findProgram, prefer } from "./cores.ts";

export interface LaunchOptions extends Omit<SpawnOptions, "detached"> {
  /** Run on this core only. */
  core?: number | undefined;
}

/** Starts a program that is put before others in line and does not outlive us. */
export function launch(program: string, args: string[], options: LaunchOptions): ChildProcess {
  const { core, ...rest } = options;
  const [command = program, ...words] = [...wrappers(core), program, ...args];
  // Detached: a session of its own is what the scheduler weighs.
  const child = spawn(command, words, { ...rest, detached: true });
  prefer(child.pid ?? 0);
  running.add(child);
  child.once("exit", () => running.delete(child));
  return child;
}

const running = new Set<ChildProcess>();
process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

// Both replace themselves by the program they start, so its process id is the one we know.
function wrappers(core: number | undefined): string[] {
  const setpriv = findProgram("setpriv");
  const taskset = availableParallelism() < 2 ? undefined : findProgram("taskset");
  return [
    ...(setpriv ? [setpriv, "--pdeathsig", "KILL"] : []),
    ...(taskset && core !== undefined ? [taskset, "-c", String(core)] : []),
  ];
}
