import { startLoad } from "../load/load-process.ts";
import { canCapture } from "../machine/capture.ts";
import { pause } from "../machine/child.ts";
import { ECHO_BOT, startRunner } from "../machine/runner.ts";
import { watchVoice, type VoiceWindow } from "../machine/voice-window.ts";
import type { Benchmark } from "../report/row.ts";
import { figure, ratio } from "../report/statistics.ts";

const SESSIONS = 5;
const WINDOW_MS = 8_000;
const TARGET_MS = 10;

export const blocked: Benchmark = {
  name: "blocked",
  about: "packet jitter while the bot blocks its own thread",
  async run() {
    const free = await watch(ECHO_BOT);
    const busy = await watch("bench/bots/blocks.ts");
    return [
      {
        what: `jitter p99 of ${SESSIONS} sessions, bot's thread blocked 120 ms in every 400`,
        target: `< ${TARGET_MS} ms`,
        measured: `${figure(busy.jitterP99Ms)} ms`,
        baseline: `not blocked ${figure(free.jitterP99Ms)} ms (${ratio(busy.jitterP99Ms, free.jitterP99Ms)})`,
        met: busy.jitterP99Ms < TARGET_MS,
        note: busy.clock === "kernel" ? "" : "timed in the load process",
      },
    ];
  },
};

async function watch(bot: string): Promise<VoiceWindow> {
  await using runner = await startRunner({ bot });
  await using load = startLoad("peer-load", { url: runner.url, pauseMs: 0, listen: !canCapture() });
  await load.add(SESSIONS);
  await pause(2_000);
  return await watchVoice(runner, load, WINDOW_MS);
}
