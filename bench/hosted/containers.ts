// What bots in containers cost, beside the same bots as processes of the same run.
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
const WOKEN_STARTS = 10;
const CROWD = 20;
const CROWD_MS = 150_000; // a loaded machine takes its time
const READY_MS = 60_000;
const BOT = readFileSync(new URL("entered-bot.ts", import.meta.url), "utf8");

export const containers: Benchmark = {
  name: "containers",
  about: "bots in containers: cold, woken, many at once, memory, size",
  async run() {
    const { image } = await requireBaseImage();
    using network = openHostNetwork();
    await using engine = await startContainerEngine({ within: network.within });
    const archive = streamArchive({ image, name: BASE_NAME, format: "docker" });
    const loaded = await engine.docker.loadImage(archive);
    await once(loaded.resume(), "end");
    const bot = engine.docker.getImage(await commitBot(engine.docker, BASE_NAME, BOT));
    await bot.tag({ repo: "localhost/bot", tag: "1" });
    const megabytes = compressedBytes(image) / 1e6;
    return [
      ...(await driverRows(network, engine)),
      {
        what: "base image, compressed",
        target: "≤ 90 MB",
        measured: `${figure(megabytes)} MB`,
        met: megabytes <= 90,
      },
    ];
  },
};

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

async function driverRows(network: HostNetwork, engine: ContainerEngine): Promise<Row[]> {
  const start = (side: Side, options: { settings?: Record<string, string>; idleInstanceMs?: number } = {}) =>
    startServiceProcess({
      within: network.within,
      environment: { VOCALHOST_HOST: network.address, ...side.environment, ...options.settings },
      timing: { pauseAfterMs: 0, idleInstanceMs: options.idleInstanceMs ?? 600_000 },
    });
  const [container, process] = [containerSide(engine), processSide()];

  const cold = async (side: Side): Promise<number[]> => {
    await using service = await start(side, { idleInstanceMs: 200 });
    const enteredMs: number[] = [];
    for (let count = 0; count < COLD_STARTS; count++) {
      const name = `cold-${count}`;
      await side.deploy(service, name, { minAgents: 0, maxAgents: 2 });
      await until(() => liveInstances(service) === 0, READY_MS, "agent at rest");
      using call = await placeCall(service, name);
      enteredMs.push(call.enteredMs);
    }
    return enteredMs;
  };
  const crowd = async (side: Side): Promise<number> => {
    await using service = await start(side, { idleInstanceMs: 200 });
    await side.deploy(service, "crowd", { minAgents: 0, maxAgents: CROWD });
    await until(() => liveInstances(service) === 0, READY_MS, "agent at rest");
    const startedMs = performance.now();
    const calls = await Promise.all(
      Array.from({ length: CROWD }, () => placeCall(service, "crowd", { enterMs: CROWD_MS })),
    );
    const tookMs = performance.now() - startedMs;
    for (const call of calls) call[Symbol.dispose]();
    return tookMs;
  };
  const warm = async (side: Side, isAsleep: boolean): Promise<{ enteredMs: number[]; idleMb: number }> => {
    const settings: Record<string, string> = isAsleep ? { VOCALHOST_PAUSE_BEYOND: "0" } : {};
    await using service = await start(side, { settings });
    await side.deploy(service, "warm", { minAgents: 2, maxAgents: 2 });
    const enteredMs: number[] = [];
    const rested = (): Promise<unknown> =>
      until(
        async () => atRest(service) && (!isAsleep || (await pausedIn(engine)) === 2),
        READY_MS,
        "service at rest",
      );
    await rested();
    const idleMb = await side.idleMb(service);
    for (let count = 0; count < WOKEN_STARTS; count++) {
      await rested();
      using call = await placeCall(service, "warm");
      enteredMs.push(call.enteredMs);
    }
    return { enteredMs, idleMb };
  };

  const [coldContainer, coldProcess] = [await cold(container), await cold(process)];
  console.error({ coldContainer, coldProcess }); // what comes later may fail
  const [woken, awake, plain] = [
    await warm(container, true),
    await warm(container, false),
    await warm(process, false),
  ];
  console.error({ woken, awake, plain });
  const [crowdContainer, crowdProcess] = [await crowd(container), await crowd(process)];
  const row = (what: string, ms: number[], other: number[], baseline: string, target: number): Row => ({
    what: `${what}: \`POST start\` → \`bot\` entered, median (slowest) of ${ms.length}`,
    target: `≤ ${target} ms`,
    measured: `${figure(median(ms))} (${figure(percentile(ms, 1))}) ms`,
    baseline: `${baseline} ${figure(median(other))} ms (${ratio(median(ms), median(other))})`,
    met: median(ms) <= target,
  });
  return [
    row(`cold start of a container (${engine.name})`, coldContainer, coldProcess, "process", 600),
    row("container woken from pause", woken.enteredMs, awake.enteredMs, "awake", 50),
    {
      what: `${CROWD} cold starts at once, all entered`,
      measured: `${figure(crowdContainer / 1000)} s`,
      baseline: `processes ${figure(crowdProcess / 1000)} s (${ratio(crowdContainer, crowdProcess)})`,
    },
    {
      what: "idle instance in a container, memory",
      measured: `${figure(awake.idleMb)} MB PSS, paused ${figure(woken.idleMb)} MB`,
      baseline: `process ${figure(plain.idleMb)} MB (${ratio(awake.idleMb, plain.idleMb)})`,
    },
  ];
}

function containerSide(engine: ContainerEngine): Side {
  return {
    environment: {
      VOCALHOST_DRIVER: "container",
      VOCALHOST_CONTAINER_ENGINE: `unix://${engine.socket}`,
      VOCALHOST_CONTAINER_NETWORK: engine.network,
      VOCALHOST_REGISTRIES: "localhost",
    },
    async deploy(service, name, autoScaling) {
      await service.api.agents.create({ serviceName: name, image: "localhost/bot:1", autoScaling });
      await until(
        async () => {
          const { ready, errors } = await service.api.agents.get(name);
          if (errors?.length) throw new Error(JSON.stringify(errors));
          return ready;
        },
        READY_MS,
        `ready ${name}`,
      );
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

/** Whoever watches over a container. */
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
