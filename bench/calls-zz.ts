import { once } from "node:events";
import { pause, startChild } from "./machine/child.ts";
import { LOAD_CORE } from "./machine/cores.ts";
import { startRunner } from "./machine/runner.ts";
import { percentile } from "./report/statistics.ts";
import { coresUsed, readUsage, threadShares } from "./machine/usage.ts";
const flags = process.argv.slice(2);
await using runner = await startRunner({ bot: "bench/calls-bot.ts", nodeFlags: flags });
await using load = startChild({ file: "bench/calls-load.ts", args: [runner.url], core: LOAD_CORE });
const ask = async (c: object): Promise<any> => {
  const a = once(load.process, "message");
  load.process.send(c, () => undefined);
  return (await a)[0];
};
await ask({ open: 100 });
await pause(4000);
await ask({});
import { readFileSync } from "node:fs";
const waited = () =>
  Number(readFileSync(`/proc/${runner.pid}/task/${runner.pid}/schedstat`, "utf8").split(" ")[1]) / 1e6;
const w = waited();
const b = readUsage(runner.pid);
await pause(15000);
const u = readUsage(runner.pid);
const w2 = waited();
const r = await ask({});
console.log("main waited for its core", (w2 - w).toFixed(0), "ms of", (u.atMs - b.atMs).toFixed(0));
console.log("cores", coresUsed(b, u), threadShares(b, u));
for (const p of [0.5, 0.9, 0.95, 0.98, 0.99, 0.999]) console.log(p, percentile(r.chunkLateMs, p).toFixed(1));
console.log("own p99", percentile(r.ownLateMs, 0.99));
const gcs = runner
  .output()
  .split("\n")
  .filter((l) => /ms: (Scav|Mark)/.test(l));
const ms = gcs.map((l) => ({ ms: Number(/ ([\d.]+) \/ [\d.]+ ms/.exec(l)?.[1]), l }));
console.log(
  "gcs",
  gcs.length,
  "longest",
  ms
    .sort((x, y) => y.ms - x.ms)
    .slice(0, 6)
    .map((x) => x.l.slice(0, 140)),
);
process.exit(0);
