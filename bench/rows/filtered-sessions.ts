import { startLoad } from "../load/load-process.ts";
import { pause } from "../machine/child.ts";
import { ECHO_BOT, startRunner } from "../machine/runner.ts";
import { coresUsed, readMemory, readUsage } from "../machine/usage.ts";
import type { Benchmark, Row } from "../report/row.ts";
import { figure } from "../report/statistics.ts";

const FILTERS = ["none", "tel", "pro"] as const;
const SESSIONS = 10;
const MEMORY_TARGET_MB = 3;
const SETTLE_MS = 5_000;
const WINDOW_MS = 20_000;

/** Runners with and without a filter at the same time, so that what else the machine does meets all of them. */
export const filteredSessions: Benchmark = {
  name: "filtered-sessions",
  about: "what voice isolation adds to the CPU and memory of running sessions",
  async run() {
    await using stack = new AsyncDisposableStack();
    const runners = [];
    for (const filter of FILTERS) {
      const flags = filter === "none" ? [] : ["--voice-filter", filter];
      const runner = stack.use(await startRunner({ bot: ECHO_BOT, flags }));
      const load = stack.use(startLoad("socket-load", { url: runner.url, pauseMs: 0, listen: false }));
      await load.add(1); // loads the model
      await pause(SETTLE_MS);
      runners.push({ filter, runner, load, oneMb: readMemory(runner.pid).rssMb });
    }
    for (const { load } of runners) await load.add(SESSIONS - 1);
    await pause(SETTLE_MS);
    const before = runners.map(({ runner }) => readUsage(runner.pid));
    await pause(WINDOW_MS);
    const points = runners.map(({ filter, runner, oneMb }, index) => ({
      filter,
      percent: (coresUsed(before[index]!, readUsage(runner.pid)) / SESSIONS) * 100,
      oneMb,
      moreMb: (readMemory(runner.pid).rssMb - oneMb) / (SESSIONS - 1),
    }));
    const [bare, ...filtered] = points;
    return filtered.flatMap((point) => rowsOf(point, bare!));
  },
};

interface Point {
  filter: string;
  percent: number;
  oneMb: number;
  /** Cost of one more session. */
  moreMb: number;
}

function rowsOf({ filter, percent, oneMb, moreMb }: Point, bare: Point): Row[] {
  return [
    {
      what: `/ws-client echo with --voice-filter ${filter}, CPU of a session among ${SESSIONS}`,
      measured: `${figure(percent)} % of a core, ${figure(percent - bare.percent)} of it the filter`,
      baseline: `without ${figure(bare.percent)} %`,
      note: "all at the same time",
    },
    {
      what: `/ws-client echo with --voice-filter ${filter}, memory of the first and of one more session`,
      target: `≤ ${MEMORY_TARGET_MB} MB more than without`,
      measured: `${figure(oneMb)} MB RSS of the runner, ${figure(moreMb)} MB`,
      baseline: `without ${figure(bare.oneMb)} MB, ${figure(bare.moreMb)} MB`,
      met: moreMb - bare.moreMb <= MEMORY_TARGET_MB,
    },
  ];
}
