// The cost of bots in containers, beside the same bots as processes of the same run.
import { compressedBytes, streamArchive } from "@vocalhost/images";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { openHostNetwork, type HostNetwork } from "../../e2e/harness/host-network.ts";
import { startServiceProcess, type ServiceProcess } from "../../e2e/harness/service-process.ts";
import { BASE_NAME, requireBaseImage } from "../../testing/base-image.ts";
import { commitBot } from "../../testing/bot-image.ts";
import { startContainerEngine, type ContainerEngine } from "../../testing/container-engine.ts";
import { until } from "../../testing/wait.ts";
import { readMemory } from "../machine/usage.ts";
import type { Benchmark, Row } from "../report/row.ts";
import { figure, median, percentile, ratio } from "../report/statistics.ts";
import { placeCall } from "./call.ts";

const COLD_STARTS = 6;
const WARM_STARTS = 10;
const CROWD = 20;
const CROWD_MS = 150_000; // a loaded machine takes its time
const READY_MS = 60_000;
const BOT = readFileSync(new URL("entered-bot.ts", import.meta.url), "utf8");

export const containers: Benchmark = {
  name: "containers",
  about: "bots in containers: cold, woken, memory, size of the base image",
  async run() {
    await using ground = await openGround();
    const megabytes = compressedBytes((await requireBaseImage()).image) / 1e6;
    return [
      await coldRow(ground),
      ...(await warmRows(ground)),
      {
        what: "base image, compressed",
        target: "≤ 90 MB",
        measured: `${figure(megabytes)} MB`,
        met: megabytes <= 90,
      },
    ];
  },
};

/** Of its own: on a loaded machine it takes minutes. */
export const containerCrowd: Benchmark = {
  name: "container-crowd",
  about: `${CROWD} containers started at once`,
  async run() {
    await using ground = await openGround();
    const [container, process] = [await crowd(ground, ground.container), await crowd(ground, ground.process)];
    return [
      {
        what: `${CROWD} cold starts at once, all entered`,
        measured: `${figure(container / 1000)} s`,
        baseline: `processes ${figure(process / 1000)} s (${ratio(container, process)})`,
      },
    ];
  },
};

/** A network and an engine with the bot's image in it. */
interface Ground extends AsyncDisposable {
  network: HostNetwork;
  engine: ContainerEngine;
  container: Side;
  process: Side;
}

async function openGround(): Promise<Ground> {
  await using stack = new AsyncDisposableStack();
  const { image } = await requireBaseImage();
  const network = stack.use(openHostNetwork());
  const engine = stack.use(await startContainerEngine({ within: network.within }));
  const loaded = await engine.docker.loadImage(streamArchive({ image, name: BASE_NAME, format: "docker" }));
  await once(loaded.resume(), "end");
  const bot = engine.docker.getImage(await commitBot(engine.docker, BASE_NAME, BOT));
  await bot.tag({ repo: "localhost/bot", tag: "1" });
  const owned = stack.move();
  return {
    network,
    engine,
    container: containerSide(engine),
    process: processSide(),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** How the same things are done with the one driver and with the other. */
interface Side {
  environment: Record<string, string>;
  deploy(service: ServiceProcess, name: string, autoScaling: Scaling): Promise<void>;
  /** Memory of an instance that waits, with all that is there only because of it. */
  idleMb(service: ServiceProcess): Promise<number>;
}

interface Scaling {
  minAgents: number;
  maxAgents: number;
}

interface StartOptions {
  settings?: Record<string, string>;
  idleInstanceMs?: number;
}

function start({ network }: Ground, side: Side, options: StartOptions = {}): Promise<ServiceProcess> {
  const { settings, idleInstanceMs = 600_000 } = options;
  return startServiceProcess({
    within: network.within,
    environment: { VOCALHOST_HOST: network.address, ...side.environment, ...settings },
    timing: { pauseAfterMs: 0, idleInstanceMs, startColdMs: CROWD_MS },
  });
}

async function coldRow(ground: Ground): Promise<Row> {
  const [container, process] = [await cold(ground, ground.container), await cold(ground, ground.process)];
  return startRow(`cold start of a container (${ground.engine.name})`, {
    ms: container,
    other: process,
    baseline: "process",
    target: 600,
  });
}

async function cold(ground: Ground, side: Side): Promise<number[]> {
  await using service = await start(ground, side, { idleInstanceMs: 200 });
  const enteredMs: number[] = [];
  for (let count = 0; count < COLD_STARTS; count++) {
    const name = `cold-${count}`;
    await side.deploy(service, name, { minAgents: 0, maxAgents: 2 });
    await until(() => liveInstances(service) === 0, READY_MS, "agent at rest");
    using call = await placeCall(service, name);
    enteredMs.push(call.enteredMs);
  }
  return enteredMs;
}

async function crowd(ground: Ground, side: Side): Promise<number> {
  await using service = await start(ground, side, { idleInstanceMs: 200 });
  await side.deploy(service, "crowd", { minAgents: 0, maxAgents: CROWD });
  await until(() => liveInstances(service) === 0, READY_MS, "agent at rest");
  const startedMs = performance.now();
  const calls = await Promise.all(
    Array.from({ length: CROWD }, () => placeCall(service, "crowd", { enterMs: CROWD_MS })),
  );
  const tookMs = performance.now() - startedMs;
  for (const call of calls) call[Symbol.dispose]();
  return tookMs;
}

async function warmRows(ground: Ground): Promise<Row[]> {
  const woken = await warm(ground, ground.container, true);
  const awake = await warm(ground, ground.container, false);
  const process = await warm(ground, ground.process, false);
  return [
    startRow("container woken from pause", {
      ms: woken.enteredMs,
      other: awake.enteredMs,
      baseline: "awake",
      target: 50,
    }),
    {
      what: "idle instance in a container, memory",
      measured: `${figure(awake.idleMb)} MB PSS, paused ${figure(woken.idleMb)} MB`,
      baseline: `process ${figure(process.idleMb)} MB (${ratio(awake.idleMb, process.idleMb)})`,
    },
  ];
}

async function warm(
  ground: Ground,
  side: Side,
  isAsleep: boolean,
): Promise<{ enteredMs: number[]; idleMb: number }> {
  const settings: Record<string, string> = isAsleep ? { VOCALHOST_PAUSE_BEYOND: "0" } : {};
  await using service = await start(ground, side, { settings });
  await side.deploy(service, "warm", { minAgents: 2, maxAgents: 2 });
  const enteredMs: number[] = [];
  const rested = (): Promise<unknown> =>
    until(
      async () => atRest(service) && (!isAsleep || (await pausedIn(ground.engine)) === 2),
      READY_MS,
      "service at rest",
    );
  await rested();
  const idleMb = await side.idleMb(service);
  for (let count = 0; count < WARM_STARTS; count++) {
    await rested();
    using call = await placeCall(service, "warm");
    enteredMs.push(call.enteredMs);
  }
  return { enteredMs, idleMb };
}

function startRow(
  what: string,
  { ms, other, baseline, target }: { ms: number[]; other: number[]; baseline: string; target: number },
): Row {
  return {
    what: `${what}: \`POST start\` → \`bot\` entered, median (slowest) of ${ms.length}`,
    target: `≤ ${target} ms`,
    measured: `${figure(median(ms))} (${figure(percentile(ms, 1))}) ms`,
    baseline: `${baseline} ${figure(median(other))} ms (${ratio(median(ms), median(other))})`,
    met: median(ms) <= target,
  };
}

function containerSide(engine: ContainerEngine): Side {
  return {
    environment: engine.settings,
    async deploy(service, name, autoScaling) {
      await service.api.agents.create({ serviceName: name, image: "localhost/bot:1", autoScaling });
      await service.ready(name);
    },
    async idleMb() {
      const all = await engine.docker.listContainers({ all: true });
      const live = all.filter(({ State }) => State === "running" || State === "paused");
      const figures = await Promise.all(
        live.map(async ({ Id }) => {
          const { State } = await engine.docker.getContainer(Id).inspect();
          return readMemory(State.Pid).pssMb + readMemory(parentOf(State.Pid)).pssMb;
        }),
      );
      return median(figures);
    },
  };
}

function processSide(): Side {
  return {
    environment: {},
    deploy: (service, name, autoScaling) => service.deploy({ name, files: { "bot.ts": BOT }, autoScaling }),
    idleMb: async (service) => median(service.instancePids().map((pid) => readMemory(pid).pssMb)),
  };
}

/** The process that supervises a container. */
function parentOf(pid: number): number {
  return Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
}

async function pausedIn({ docker }: ContainerEngine): Promise<number> {
  return (await docker.listContainers({ all: true })).filter(({ State }) => State === "paused").length;
}

function liveInstances(service: ServiceProcess): number {
  return service.rows("SELECT id FROM instances WHERE state NOT IN ('stopped', 'lost')").length;
}

function atRest(service: ServiceProcess): boolean {
  const ready = service.rows("SELECT id FROM instances WHERE state = 'ready' AND session_id IS NULL").length;
  return ready === 2 && liveInstances(service) === 2;
}
