import { startLoad } from "../load/load-process.ts";
import { pause } from "../machine/child.ts";
import { ECHO_BOT, startRunner } from "../machine/runner.ts";
import type { Benchmark, Row } from "../report/row.ts";
import { figure, percentile } from "../report/statistics.ts";

// A call keeps the phase between its packets and the server's clock, so many short ones are measured.
const PLANS = [
  { sessions: 1, calls: 12 },
  { sessions: 10, calls: 4 },
];
const CALL_MS = 3_000;

export const latency: Benchmark = {
  name: "latency",
  about: "what an echo adds between a packet in and the packet out",
  async run() {
    await using runner = await startRunner({ bot: ECHO_BOT });
    await using load = startLoad("echo-probe", { url: runner.url, pauseMs: 0, listen: true });
    const rows: Row[] = [];
    for (const { sessions, calls } of PLANS) {
      const addedMs: number[] = [];
      for (let call = 0; call < calls; call += 1) {
        await load.add(sessions);
        await pause(CALL_MS);
        addedMs.push(...(await load.report()).gapsMs);
        await load.remove(sessions);
        await load.restart();
      }
      rows.push({
        what: `echo: packet in → packet out among ${sessions}, p50 / p99 of ${addedMs.length}`,
        measured: `${figure(percentile(addedMs, 0.5))} / ${figure(percentile(addedMs, 0.99))} ms`,
        baseline: "the wait for a 20 ms clock alone is 10 / 20 ms",
        note: "without the look-ahead of the codecs",
      });
    }
    return rows;
  },
};
