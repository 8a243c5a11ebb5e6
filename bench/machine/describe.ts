import { availableParallelism, cpus, loadavg, release, totalmem } from "node:os";

/** Returns one line about the machine, its software and its load. */
export function describeMachine(): string {
  const load = loadavg().map((value) => value.toFixed(1));
  return `${nameMachine()}, Linux ${release()}, Node ${process.version}, load average ${load.join(" ")}`;
}

export function nameMachine(): string {
  const model = cpus()[0]?.model ?? "unknown processor";
  return `${availableParallelism()} cores, ${model} (${process.arch}), ${Math.round(totalmem() / 2 ** 30)} GiB`;
}
