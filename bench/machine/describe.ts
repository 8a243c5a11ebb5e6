import { availableParallelism, cpus, loadavg, release, totalmem } from "node:os";

/** One line about what the figures were taken on. */
export function describeMachine(): string {
  const model = cpus()[0]?.model ?? "unknown processor";
  const memory = Math.round(totalmem() / 2 ** 30);
  const load = loadavg().map((value) => value.toFixed(1));
  return `${availableParallelism()} cores, ${model} (${process.arch}), ${memory} GiB, Linux ${release()}, Node ${process.version}, load average ${load.join(" ")}`;
}
