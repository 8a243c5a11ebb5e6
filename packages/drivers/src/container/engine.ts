import type { Digest } from "@vocalhost/images";
import { request } from "node:http";
import type { Socket } from "node:net";
import { chosenGateway } from "./chosen-gateway.ts";
import type {
  ContainerRequest,
  EngineInfo,
  FoundContainer,
  FoundImage,
  FoundNetwork,
  ListedContainer,
  ListedImage,
} from "./engine-answers.ts";
import { createEngineClient, type EngineClient } from "./engine-client.ts";
import { EngineError, isMissing, toEngineError } from "./engine-error.ts";
import { identifyEngine } from "./identify-engine.ts";

/** Docker or Podman, at its socket. Every call has its own limit: an engine may take a question and never answer. */
export interface Engine {
  readonly name: "docker" | "podman";
  readonly version: string;
  readonly socket: string;
  list(label: string): Promise<ListedContainer[]>;
  /** Undefined when there is none of this name. */
  inspect(name: string): Promise<FoundContainer | undefined>;
  /** Undefined when it is not in the engine's storage. */
  inspectImage(reference: string): Promise<EngineImage | undefined>;
  create(options: ContainerRequest): Promise<void>;
  /** Starts it, and writes this to its standard input. */
  startWith(name: string, input: string): Promise<void>;
  /** One that does not run is fine. */
  kill(name: string, signal: "SIGTERM" | "SIGKILL"): Promise<void>;
  /** One that is paused already is fine. */
  pause(name: string): Promise<void>;
  /** One that is not paused, or gone, is fine. */
  unpause(name: string): Promise<void>;
  /** One that is not there is fine. */
  remove(name: string): Promise<void>;
  /** The end of what the engine itself has kept of its output. */
  lastWords(name: string): Promise<string>;
  /** Whether it can limit the processor time of what runs: Docker, and Podman since 4.3. */
  readonly limitsCpuLater: boolean;
  /** Lets it have so much processor time while it runs. One that is gone is fine. */
  limitCpu(name: string, millicores: number): Promise<void>;
  ensureNetwork(name: string, options?: { isInternal?: boolean }): Promise<void>;
  /** Those with this label that have a name. */
  images(label: string): Promise<ListedImage[]>;
  /** One that is not there is fine. False: something still needs it. */
  removeImage(reference: string): Promise<boolean>;
  /** Removes those with this label that have no name, are older, and that nothing is made of. */
  pruneImages(options: { label: string; before: number }): Promise<void>;
  /** Where it keeps everything, on its own machine. */
  storageFolder(): Promise<string>;
  /** Where the bots of a network meet this machine. */
  bridgeOf(network: string): Promise<Bridge>;
  /** Newline-delimited events of containers with this label, until it ends or is destroyed. */
  events(label: string): Promise<NodeJS.ReadableStream & { destroy(): void }>;
  /** For what has limits of its own, such as pulling. */
  readonly client: EngineClient;
}

export interface EngineImage {
  id: Digest;
  architecture: string;
  labels: Record<string, string>;
  /** Unpacked, with all it is built on. */
  bytes: number;
  /** What it has engines do when something is built on it. */
  onBuild: string[];
  /** Folders that engines keep on the disk of this machine, without a limit and over a read-only root. */
  volumes: string[];
}

export interface Bridge {
  /** Interface of this machine; undefined where the engine has none here, because it runs without root. */
  name: string | undefined;
  /** Addresses of this machine on it. */
  gateways: string[];
}

export interface EngineLimits {
  /** Of questions. @default 10 s */
  quickMs: number;
  /** Of what makes or ends something: 20 at once on two cores take 6 s. @default 30 s */
  workMs: number;
}

const LIMITS: EngineLimits = { quickMs: 10_000, workMs: 30_000 };
const LAST_LINES = 30;
export const CPU_PERIOD_US = 100_000;

export async function openEngine(socket: string, limits: EngineLimits = LIMITS): Promise<Engine> {
  const { quickMs, workMs } = limits;
  const client = createEngineClient(socket);

  async function ask<T>(
    call: string,
    limitMs: number,
    question: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const limit = new AbortController();
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      reject(new EngineError("hung", `The container engine took more than ${limitMs / 1000} s to ${call}`));
      limit.abort();
    }, limitMs);
    try {
      return await Promise.race([question(limit.signal), late]);
    } catch (error) {
      throw toEngineError(error, { call, socket });
    } finally {
      clearTimeout(timer);
    }
  }

  async function unlessMissing(work: Promise<unknown>): Promise<void> {
    await work.catch((error: unknown) => {
      if (!isMissing(error)) throw error;
    });
  }

  const { name: kind, version } = await ask("say what it is", quickMs, (signal) =>
    identifyEngine(client, signal),
  );
  const isPodman = kind === "podman";

  // Asked once: it does not change while the engine runs, and Podman starts a package manager for every answer.
  let told: Promise<EngineInfo> | undefined;
  function info(): Promise<EngineInfo> {
    told ??= ask("describe itself", quickMs, (signal) =>
      client.ask<EngineInfo>({ path: "/info", signal }),
    ).catch((error: unknown) => {
      told = undefined;
      throw error;
    });
    return told;
  }

  return {
    name: kind,
    version,
    limitsCpuLater: !isPodman || isSince(version, [4, 3]),
    socket,
    client,
    list: (label) =>
      ask("list containers", quickMs, (signal) =>
        client.ask({ path: "/containers/json", query: { all: true, filters: { label: [label] } }, signal }),
      ),
    async inspect(name) {
      try {
        return await ask("look at a container", quickMs, (signal) =>
          client.ask<FoundContainer>({ path: `/containers/${name}/json`, signal }),
        );
      } catch (error) {
        if (isMissing(error)) return undefined;
        throw error;
      }
    },
    async inspectImage(reference) {
      try {
        const found = await ask("look at an image", quickMs, (signal) =>
          client.ask<FoundImage>({ path: `/images/${reference}/json`, signal }),
        );
        const { Id, Architecture, Config, Size } = found;
        const id: Digest = `sha256:${Id.replace(/^sha256:/, "")}`;
        const { Labels, OnBuild, Volumes } = Config ?? {};
        return {
          id,
          architecture: Architecture,
          labels: Labels ?? {},
          bytes: Size,
          onBuild: OnBuild ?? [],
          volumes: Object.keys(Volumes ?? {}),
        };
      } catch (error) {
        if (isMissing(error)) return undefined;
        throw error;
      }
    },
    async create({ name, ...body }) {
      await ask("create a container", workMs, (signal) =>
        client.tell({ method: "POST", path: "/containers/create", query: { name }, body, signal }),
      );
    },
    async startWith(name, input) {
      // Attached before it starts: whatever runs in it then finds its input, or the end of it, and never waits in vain.
      const stdin = await ask("attach to a container", workMs, (signal) => attachInput(socket, name, signal));
      try {
        await ask("start a container", workMs, (signal) =>
          client.tell({ method: "POST", path: `/containers/${name}/start`, signal }),
        );
        await ask("hand over to a container", quickMs, () => writeAll(stdin, input));
      } finally {
        stdin.destroySoon();
      }
    },
    async kill(name, which) {
      const kill = ask("end a container", workMs, (signal) =>
        client.tell({ method: "POST", path: `/containers/${name}/kill`, query: { signal: which }, signal }),
      );
      await kill.catch((error: unknown) => {
        const isOver =
          error instanceof EngineError && /not running|is not in|stopped|exited/.test(error.message);
        if (!isOver && !isMissing(error)) throw error;
      });
    },
    async pause(name) {
      const pause = ask("pause a container", workMs, (signal) =>
        client.tell({ method: "POST", path: `/containers/${name}/pause`, signal }),
      );
      await pause.catch(unlessSaid(/already paused/i));
    },
    async unpause(name) {
      const unpause = ask("wake a container", workMs, (signal) =>
        client.tell({ method: "POST", path: `/containers/${name}/unpause`, signal }),
      );
      await unlessMissing(unpause.catch(unlessSaid(/not paused/i)));
    },
    async remove(name) {
      const remove = ask("remove a container", workMs, (signal) =>
        client.tell({
          ...{ method: "DELETE", path: `/containers/${name}`, signal },
          query: { force: true, v: true },
        }),
      );
      await unlessMissing(
        remove.catch((error: unknown) => {
          const isUnderWay = error instanceof EngineError && /already in progress/.test(error.message);
          if (!isUnderWay) throw error;
        }),
      );
    },
    async lastWords(name) {
      const bytes = await ask("read a container's output", quickMs, (signal) =>
        client.bytes({
          path: `/containers/${name}/logs`,
          query: { stdout: true, stderr: true, tail: LAST_LINES },
          signal,
        }),
      ).catch(() => Buffer.alloc(0));
      return withoutFrames(bytes).trimEnd();
    },
    async limitCpu(name, millicores) {
      const limit = ask("limit a container", quickMs, (signal) =>
        client.tell({ method: "POST", ...(isPodman ? podmanLimit : dockerLimit)(name, millicores), signal }),
      );
      await unlessMissing(limit);
    },
    images: (label) =>
      ask("list images", quickMs, (signal) =>
        client.ask({ path: "/images/json", query: { filters: { label: [label] } }, signal }),
      ),
    async removeImage(reference) {
      try {
        await ask("remove an image", workMs, (signal) =>
          client.tell({ method: "DELETE", path: `/images/${reference}`, signal }),
        );
        return true;
      } catch (error) {
        if (isMissing(error)) return true;
        if (isStillNeeded(error)) return false;
        throw error;
      }
    },
    async pruneImages({ label, before }) {
      const until = new Date(before).toISOString();
      const prune = ask("remove old images", workMs, (signal) =>
        client.tell({
          ...{ method: "POST", path: "/images/prune", signal },
          query: { filters: { dangling: ["true"], label: [label], until: [until] } },
        }),
      );
      await prune.catch((error: unknown) => {
        if (!isStillNeeded(error)) throw error; // Podman gives up at the first such image; the next time it is gone
      });
    },
    storageFolder: async () => (await info()).DockerRootDir ?? "/",
    async ensureNetwork(name, { isInternal = false } = {}) {
      const find = ask("look at a network", quickMs, (signal) =>
        client.tell({ path: `/networks/${name}`, signal }),
      );
      const isThere = await find.then(
        () => true,
        (error: unknown) => {
          if (isMissing(error)) return false;
          throw error;
        },
      );
      if (isThere) return;
      const create = ask("create a network", workMs, (signal) =>
        client.tell({
          ...{ method: "POST", path: "/networks/create", signal },
          body: {
            Name: name,
            Driver: "bridge",
            CheckDuplicate: true,
            Internal: isInternal,
            // Bots have nothing to say to each other. Podman knows no such option.
            ...(isPodman ? {} : { Options: { "com.docker.network.bridge.enable_icc": "false" } }),
          },
        }),
      );
      await create.catch((error: unknown) => {
        const isThereNow = error instanceof EngineError && /already (?:exists|used)/.test(error.message);
        if (!isThereNow) throw error;
      });
    },
    async bridgeOf(network) {
      const { SecurityOptions } = await info();
      const isRootless = SecurityOptions?.some((option) => /name=rootless/.test(option)) ?? false;
      const find = isPodman ? podmanBridge : dockerBridge;
      const bridge = await ask("look at a network", quickMs, (signal) => find(client, network, signal));
      return isRootless ? { ...bridge, name: undefined } : bridge;
    },
    async events(label) {
      // The limit is for the answer to begin; it then goes on for as long as anybody listens.
      const connection = new AbortController();
      return ask("tell of events", quickMs, async (limit) => {
        const giveUp = (): void => connection.abort();
        limit.addEventListener("abort", giveUp, { once: true });
        try {
          const filters = { type: ["container"], label: [label] };
          return await client.stream({ path: "/events", query: { filters }, signal: connection.signal });
        } finally {
          limit.removeEventListener("abort", giveUp);
        }
      });
    },
  };
}

/** Of an image that a container or another image is made of. */
function isStillNeeded(error: unknown): boolean {
  return error instanceof EngineError && /in use|used by|conflict|dependent child/i.test(error.message);
}

async function dockerBridge(client: EngineClient, network: string, signal: AbortSignal): Promise<Bridge> {
  const { Id, Driver, Options, IPAM } = await client.ask<FoundNetwork>({
    path: `/networks/${network}`,
    signal,
  });
  const gateways = (IPAM?.Config ?? []).flatMap((each) => each.Gateway || chosenGateway(each));
  const name = Options?.["com.docker.network.bridge.name"] ?? `br-${Id.slice(0, 12)}`;
  return { name: Driver === "bridge" ? name : undefined, gateways };
}

// Its answer to Docker's question does not name the bridge.
async function podmanBridge(client: EngineClient, network: string, signal: AbortSignal): Promise<Bridge> {
  const path = `/v4.0.0/libpod/networks/${encodeURIComponent(network)}/json`;
  const { driver, network_interface, subnets } = await client.ask<{
    driver: string;
    network_interface?: string;
    subnets?: { gateway?: string }[];
  }>({ path, signal });
  const gateways = (subnets ?? []).flatMap(({ gateway }) => gateway ?? []);
  return { name: driver === "bridge" ? network_interface : undefined, gateways };
}

function dockerLimit(name: string, millicores: number) {
  return { path: `/containers/${name}/update`, body: cpuLimit(millicores) };
}

// Until version 5 it knew Docker's question for this only by its own name.
function podmanLimit(name: string, millicores: number) {
  const { CpuPeriod: period, CpuQuota: quota } = cpuLimit(millicores);
  return {
    path: `/v4.0.0/libpod/containers/${encodeURIComponent(name)}/update`,
    body: { cpu: { period, quota } },
  };
}

function isSince(version: string, [major, minor]: readonly [number, number]): boolean {
  const [ofMajor = 0, ofMinor = 0] = version.split(".").map((part) => Number.parseInt(part, 10));
  return ofMajor > major || (ofMajor === major && ofMinor >= minor);
}

export function cpuLimit(millicores: number): { CpuPeriod: number; CpuQuota: number } {
  return { CpuPeriod: CPU_PERIOD_US, CpuQuota: Math.max(1_000, (millicores * CPU_PERIOD_US) / 1_000) };
}

/** What was asked for is so already. */
function unlessSaid(words: RegExp): (error: unknown) => void {
  return (error) => {
    if (!(error instanceof EngineError && words.test(error.message))) throw error;
  };
}

// Not the library's: it writes its own options into the container's standard input first.
async function attachInput(socket: string, name: string, signal: AbortSignal): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const upgrade = request({
    socketPath: socket,
    method: "POST",
    path: `/v1.41/containers/${encodeURIComponent(name)}/attach?stream=1&stdin=1`,
    headers: { connection: "Upgrade", upgrade: "tcp" },
    signal,
  });
  upgrade.on("upgrade", (_response, stream: Socket) => {
    stream.on("error", () => undefined); // told by whoever writes
    stream.resume();
    resolve(stream);
  });
  upgrade.on("response", (response) => {
    let text = "";
    response.setEncoding("utf8").on("data", (part: string) => (text += part));
    response.on("end", () => reject(Object.assign(new Error(text), { statusCode: response.statusCode })));
  });
  upgrade.on("error", reject);
  upgrade.end();
  return promise;
}

function writeAll(stream: Socket, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.once("error", reject);
    stream.write(text, (error) => (error ? reject(error) : resolve()));
  });
}

// Each piece of output comes with eight bytes that say which stream it belongs to and how long it is.
function withoutFrames(bytes: Buffer): string {
  const pieces: Buffer[] = [];
  for (let at = 0; at + 8 <= bytes.length;) {
    const length = bytes.readUInt32BE(at + 4);
    pieces.push(bytes.subarray(at + 8, at + 8 + length));
    at += 8 + length;
  }
  return Buffer.concat(pieces).toString("utf8");
}
