import { availableParallelism, cpus } from "node:os";
import { createBystanders } from "./bystanders.ts";

/** Tells when the cores have time for one more process. */
export interface SpareTime extends Disposable {
  forOneMore(running: ReadonlySet<Promise<void>>): Promise<void>;
}

const LOOK_MS = 500;
const SPARE = 0.12; // of all cores: tests listen to sound and keep deadlines, so they never get the last of it
const FAIR = 0.5; // what other programs of the machine take beyond this, tests would get if they asked for it
const FEWEST = availableParallelism();
const MOST = 4 * availableParallelism(); // most tests mostly wait

/** With a fixed number, only that counts. */
export function createSpareTime(atOnce?: number): SpareTime {
  const bystanders = createBystanders();
  let before = takenAndIdle();
  let spare = 0;
  const timer = setInterval(() => {
    const now = takenAndIdle();
    const idle = now.idle - before.idle;
    const all = now.taken - before.taken + idle || 1;
    spare = idle / all + Math.max(0, bystanders.takenMs() / all - FAIR);
    before = now;
  }, LOOK_MS);
  return {
    async forOneMore(running) {
      if (atOnce !== undefined) return untilFewer(running, atOnce);
      await untilFewer(running, MOST);
      if (running.size < FEWEST) return;
      spare = 0; // what has just begun was not seen yet
      while (running.size >= FEWEST && spare < SPARE) await Promise.race([pause(LOOK_MS), ...running]);
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}

async function untilFewer(running: ReadonlySet<Promise<void>>, most: number): Promise<void> {
  while (running.size >= most) await Promise.race(running);
}

function takenAndIdle(): { taken: number; idle: number } {
  let taken = 0;
  let idle = 0;
  for (const { times } of cpus()) {
    taken += times.user + times.nice + times.sys + times.irq;
    idle += times.idle;
  }
  return { taken, idle };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
