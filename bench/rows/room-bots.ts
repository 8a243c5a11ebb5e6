import { startLoad } from "../load/load-process.ts";
import { pause } from "../machine/child.ts";
import { ECHO_BOT, startRunner } from "../machine/runner.ts";
import { coresUsed, readMemory, readUsage } from "../machine/usage.ts";
import type { Benchmark, Row } from "../report/row.ts";
import { figure } from "../report/statistics.ts";

const SIZES = [1, 5];
const WINDOW_MS = 10_000;
const SETTLE_MS = 4_000;
const PACKETS_PER_S = 50;

/** The embedded server's media has a process of its own, so the runner's CPU is what its bots cost. */
export const roomBots: Benchmark = {
  name: "room-bots",
  about: "CPU and memory of bots in embedded rooms, one caller each",
  async run() {
    await using runner = await startRunner({ bot: ECHO_BOT });
    const idle = readMemory(runner.pid);
    await using load = startLoad("room-caller-load", { url: runner.url, pauseMs: 0, listen: false });
    const rows: Row[] = [];
    let open = 0;
    for (const size of SIZES) {
      await load.add(size - open);
      open = size;
      await pause(SETTLE_MS);
      await load.restart();
      const before = readUsage(runner.pid);
      await pause(WINDOW_MS);
      const share = coresUsed(before, readUsage(runner.pid)) / size;
      const { received } = await load.report();
      const memory = readMemory(runner.pid);
      const heard = received / (size * PACKETS_PER_S * (WINDOW_MS / 1000));
      rows.push({
        what: `echo in a room, CPU of a bot among ${size}`,
        measured: `${figure(share * 60)} s/min, ${figure(share * 100)} % of a core`,
        baseline: `${figure(memory.rssMb)} MB RSS, idle ${figure(idle.rssMb)} MB`,
        note: `${figure(heard * 100)} % of what a caller sends comes back`,
      });
    }
    return rows;
  },
};
