import { once } from "node:events";
import { REPOSITORY } from "../machine/child.ts";
import { launch } from "../machine/launch.ts";
import { readUsage } from "../machine/usage.ts";
import type { Benchmark } from "../report/row.ts";
import { figure, median, percentile, ratio } from "../report/statistics.ts";

const RUNS = 12;
const START_DEADLINE_MS = 20_000;
const TARGET_MS = 300;
const FASTIFY = `
  const app = (await import("fastify")).default();
  await app.listen({ port: 0, host: "127.0.0.1" });
  console.log("Talk to it");
  process.on("SIGTERM", () => process.exit());`;
const NOTHING = `console.log("Talk to it"); setInterval(() => {}, 1e3);`;

export const startup: Benchmark = {
  name: "startup",
  about: "`node bot.ts` until it listens",
  async run() {
    const runs: Record<keyof typeof PROGRAMS, Start[]> = { bot: [], fastify: [], nothing: [] };
    for (let count = 0; count < RUNS; count += 1) {
      runs.bot.push(await start(PROGRAMS.bot));
      runs.fastify.push(await start(PROGRAMS.fastify));
      runs.nothing.push(await start(PROGRAMS.nothing));
    }
    const wall = (name: keyof typeof PROGRAMS): number => median(runs[name].map((run) => run.wallMs));
    const cpu = (name: keyof typeof PROGRAMS): number => median(runs[name].map((run) => run.cpuMs));
    const slowest = percentile(
      runs.bot.map((run) => run.wallMs),
      0.99,
    );
    return [
      {
        what: "`node bot.ts` until it listens, wall time, median (slowest)",
        target: `≤ ${TARGET_MS} ms`,
        measured: `${figure(wall("bot"))} (${figure(slowest)}) ms`,
        baseline: `bare fastify ${figure(wall("fastify"))} ms (${ratio(wall("bot"), wall("fastify"))}), bare node ${figure(wall("nothing"))} ms`,
        met: wall("bot") <= TARGET_MS,
      },
      {
        what: "the same in CPU time, median",
        measured: `${figure(cpu("bot"))} ms`,
        baseline: `bare fastify ${figure(cpu("fastify"))} ms (${ratio(cpu("bot"), cpu("fastify"))}), bare node ${figure(cpu("nothing"))} ms`,
      },
    ];
  },
};

interface Start {
  wallMs: number;
  cpuMs: number;
}

const MODULE = ["--input-type=module", "-e"];
const PROGRAMS = {
  bot: [`${REPOSITORY}examples/echo/bot.ts`, "--port", "0"], // as published, for that is what people run
  fastify: [...MODULE, FASTIFY],
  nothing: [...MODULE, NOTHING],
};

async function start(args: string[]): Promise<Start> {
  const startMs = performance.now();
  const child = launch(process.execPath, args, {
    cwd: `${REPOSITORY}bench`,
    stdio: ["ignore", "pipe", "inherit"],
    timeout: START_DEADLINE_MS,
  });
  const exited = once(child, "exit");
  const listens = Promise.withResolvers<void>();
  let output = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    output += text;
    if (output.includes("Talk to it")) listens.resolve();
  });
  await Promise.race([listens.promise, exited]);
  const wallMs = performance.now() - startMs;
  const { cpuMs } = readUsage(child.pid ?? 0);
  child.kill("SIGTERM");
  await exited;
  return { wallMs, cpuMs };
}
