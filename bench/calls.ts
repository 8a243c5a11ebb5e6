// Phone calls at once: how evenly the bot is heard, and what a call costs.
import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { CallsAnswer, CallsCommand } from "./calls-load.ts";
import { pause, startChild, type Child } from "./machine/child.ts";
import { LOAD_CORE } from "./machine/cores.ts";
import { startRunner } from "./machine/runner.ts";
import { coresUsed, readMemory, readUsage, type Memory } from "./machine/usage.ts";
import type { Benchmark, Row } from "./report/row.ts";
import { figure, percentile } from "./report/statistics.ts";

const SIZES = [10, 50, 100];
const SETTLE_MS = 4_000;
const WINDOW_MS = 20_000;
const ANSWER_MS = 60_000;
const CHUNK_MS = 40;
const LATE_TARGET_MS = CHUNK_MS; // the carrier's queue holds three

export const calls: Benchmark = {
  name: "calls",
  about: "phone calls at once: lateness of the bot's chunks, CPU and memory of a call",
  async run() {
    const points = await grow();
    const [few, many] = [points[0]!, points.at(-1)!];
    const slopeMb = (many.memory.rssMb - few.memory.rssMb) / (many.calls - few.calls);
    return [
      ...points.map(latenessRow),
      ...points.map(costRow),
      {
        what: "phone call, memory of one more",
        measured: `${figure(slopeMb)} MB RSS`,
        baseline: `${figure(few.memory.rssMb)} MB with ${few.calls}, ${figure(many.memory.rssMb)} MB with ${many.calls}`,
      },
    ];
  },
};

interface Point extends CallsAnswer {
  cores: number;
  /** Share of the chunks that fit into real time. */
  cameShare: number;
  /** Time in which the bot could have run, had its core been free: others' work, not ours. */
  waitedShare: number;
  memory: Memory;
}

async function grow(): Promise<Point[]> {
  await using runner = await startRunner({ bot: "bench/calls-bot.ts" });
  await using load = startChild({ file: "bench/calls-load.ts", args: [runner.url], core: LOAD_CORE });
  const points: Point[] = [];
  let open = 0;
  for (const size of SIZES) {
    await ask(load, { open: size - open });
    open = size;
    await pause(SETTLE_MS);
    await ask(load, {}); // forgets the beginning
    const [before, waitedBeforeMs] = [readUsage(runner.pid), waitedMs(runner.pid)];
    await pause(WINDOW_MS);
    const cores = coresUsed(before, readUsage(runner.pid));
    const waitedShare = (waitedMs(runner.pid) - waitedBeforeMs) / WINDOW_MS;
    const answer = await ask(load, {});
    const cameShare = answer.chunkLateMs.length / ((size * WINDOW_MS) / CHUNK_MS);
    if (cameShare < 0.5) throw new Error(`The bot fell silent:\n${runner.output().slice(-2_000)}`);
    points.push({ ...answer, cores, cameShare, waitedShare, memory: readMemory(runner.pid) });
  }
  return points;
}

async function ask(load: Child, command: CallsCommand): Promise<CallsAnswer> {
  const answered = once(load.process, "message", { signal: AbortSignal.timeout(ANSWER_MS) });
  load.process.send(command, () => undefined); // that it has ended is noticed below
  const outcome = await Promise.race([answered, load.ended]);
  if (typeof outcome === "string") throw new Error(`The load ended with ${outcome}:\n${load.output()}`);
  const [answer] = outcome as [CallsAnswer | { error: string }];
  if ("error" in answer) throw new Error(answer.error);
  return answer;
}

function waitedMs(pid: number): number {
  const [, waitedNs] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "utf8").split(" ");
  return Number(waitedNs) / 1e6;
}

function latenessRow({ calls, chunkLateMs, ownLateMs, cameShare, waitedShare }: Point): Row {
  const late = (share: number): string => figure(percentile(chunkLateMs, share));
  return {
    what: `${calls} phone calls, lateness of the bot's chunks`,
    ...(calls === SIZES.at(-1)
      ? { target: `p99 ≤ ${LATE_TARGET_MS} ms`, met: percentile(chunkLateMs, 0.99) <= LATE_TARGET_MS }
      : {}),
    measured: `p50 ${late(0.5)} ms, p99 ${late(0.99)} ms, worst ${late(1)} ms`,
    note: [
      `${figure(cameShare * 100)} % of the chunks came`,
      `the load itself was late by p99 ${figure(percentile(ownLateMs, 0.99))} ms`,
      `the bot waited ${figure(waitedShare * 100)} % of the time for its core`,
    ].join("; "),
  };
}

function costRow({ calls, cores }: Point): Row {
  const share = cores / calls;
  return {
    what: `phone call, CPU among ${calls}`,
    measured: `${figure(share * 60)} s/min, ${figure(share * 100)} % of a core`,
  };
}

if (import.meta.main) {
  const { formatTable } = await import("./report/table.ts");
  const { describeMachine } = await import("./machine/describe.ts");
  console.log(`${describeMachine()}\n\n${formatTable(await calls.run(() => undefined))}`);
  process.exit(0);
}
