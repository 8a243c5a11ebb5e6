import type { Digest } from "@vocalhost/images";
import Docker from "dockerode";
import { request, type RequestOptions } from "node:http";
import type { Socket } from "node:net";
import { chosenGateway } from "./chosen-gateway.ts";
import { EngineError, isMissing, toEngineError } from "./engine-error.ts";

/** Docker or Podman, at its socket. Every call has its own limit: an engine may take a question and never answer. */
export interface Engine {
  readonly name: "docker" | "podman";
  readonly version: string;
  readonly socket: string;
  list(label: string): Promise<Docker.ContainerInfo[]>;
  /** Undefined when there is none of this name. */
  inspect(name: string): Promise<Docker.ContainerInspectInfo | undefined>;
  /** Undefined when it is not in the engine's storage. */
  inspectImage(reference: string): Promise<EngineImage | undefined>;
  create(options: Docker.ContainerCreateOptions): Promise<void>;
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
  images(label: string): Promise<Docker.ImageInfo[]>;
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
  readonly docker: Docker;
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
  const docker = new Docker({ socketPath: socket });

  async function ask<T>(
    call: string,
    limitMs: number,
    question: (abortSignal: AbortSignal) => Promise<T>,
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

  const version = await ask("say its version", quickMs, (abortSignal) =>
    // The types know no options here; the library passes them on.
    (docker.version as (options: object) => ReturnType<typeof docker.version>)({ abortSignal }),
  );
  const isPodman = version.Components?.some(({ Name }) => /podman/i.test(Name)) ?? false;

  return {
    name: isPodman ? "podman" : "docker",
    version: version.Version,
    limitsCpuLater: !isPodman || isSince(version.Version, [4, 3]),
    socket,
    docker,
    list: (label) =>
      ask("list containers", quickMs, (abortSignal) =>
        docker.listContainers({ all: true, filters: { label: [label] }, abortSignal }),
      ),
    async inspect(name) {
      try {
        return await ask("look at a container", quickMs, (abortSignal) =>
          docker.getContainer(name).inspect({ abortSignal }),
        );
      } catch (error) {
        if (isMissing(error)) return undefined;
        throw error;
      }
    },
    async inspectImage(reference) {
      try {
        const found = await ask("look at an image", quickMs, (abortSignal) =>
          (docker.getImage(reference).inspect as (options: object) => Promise<Docker.ImageInspectInfo>)({
            abortSignal,
          }),
        );
        const { Id, Architecture, Config, Size } = found;
        const id: Digest = `sha256:${Id.replace(/^sha256:/, "")}`;
        const { Labels, OnBuild, Volumes } = (Config ?? {}) as {
          Labels?: Record<string, string>;
          OnBuild?: string[] | null;
          Volumes?: Record<string, object> | null;
        };
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
    async create(options) {
      await ask("create a container", workMs, (abortSignal) =>
        docker.createContainer({ ...options, abortSignal }),
      );
    },
    async startWith(name, input) {
      // Attached before it starts: whatever runs in it then finds its input, or the end of it, and never waits in vain.
      const stdin = await ask("attach to a container", workMs, (signal) => attachInput(socket, name, signal));
      try {
        await ask("start a container", workMs, (abortSignal) =>
          docker.getContainer(name).start({ abortSignal }),
        );
        await ask("hand over to a container", quickMs, () => writeAll(stdin, input));
      } finally {
        stdin.destroySoon();
      }
    },
    async kill(name, signal) {
      const kill = ask("end a container", workMs, (abortSignal) =>
        docker.getContainer(name).kill({ signal, abortSignal }),
      );
      await kill.catch((error: unknown) => {
        const isOver =
          error instanceof EngineError && /not running|is not in|stopped|exited/.test(error.message);
        if (!isOver && !isMissing(error)) throw error;
      });
    },
    async pause(name) {
      const pause = ask("pause a container", workMs, (abortSignal) =>
        docker.getContainer(name).pause({ abortSignal }),
      );
      await pause.catch(unlessSaid(/already paused/i));
    },
    async unpause(name) {
      const unpause = ask("wake a container", workMs, (abortSignal) =>
        docker.getContainer(name).unpause({ abortSignal }),
      );
      await unlessMissing(unpause.catch(unlessSaid(/not paused/i)));
    },
    async remove(name) {
      const remove = ask("remove a container", workMs, (abortSignal) =>
        docker.getContainer(name).remove({ force: true, v: true, abortSignal }),
      );
      await unlessMissing(
        remove.catch((error: unknown) => {
          const isUnderWay = error instanceof EngineError && /already in progress/.test(error.message);
          if (!isUnderWay) throw error;
        }),
      );
    },
    async lastWords(name) {
      const bytes = await ask("read a container's output", quickMs, (abortSignal) =>
        docker.getContainer(name).logs({ stdout: true, stderr: true, tail: LAST_LINES, abortSignal }),
      ).catch(() => Buffer.alloc(0));
      return withoutFrames(bytes).trimEnd();
    },
    async limitCpu(name, millicores) {
      const limit = ask("limit a container", quickMs, (abortSignal) =>
        isPodman
          ? limitPodmanCpu(socket, { name, millicores, signal: abortSignal })
          : docker.getContainer(name).update({ ...cpuLimit(millicores), abortSignal }),
      );
      await unlessMissing(limit);
    },
    images: (label) =>
      ask("list images", quickMs, (abortSignal) =>
        docker.listImages({ filters: { label: [label] }, abortSignal } as Docker.ListImagesOptions),
      ),
    async removeImage(reference) {
      try {
        await ask("remove an image", workMs, (abortSignal) =>
          docker.getImage(reference).remove({ abortSignal } as Docker.ImageRemoveOptions),
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
      const prune = ask("remove old images", workMs, (abortSignal) =>
        (docker.pruneImages as (options: object) => Promise<unknown>)({
          filters: { dangling: ["true"], label: [label], until: [until] },
          abortSignal,
        }),
      );
      await prune.catch((error: unknown) => {
        if (!isStillNeeded(error)) throw error; // Podman gives up at the first such image; the next time it is gone
      });
    },
    async storageFolder() {
      const info = (await ask("tell about itself", quickMs, (abortSignal) =>
        (docker.info as (options: object) => Promise<unknown>)({ abortSignal }),
      )) as { DockerRootDir?: string };
      return info.DockerRootDir ?? "/";
    },
    async ensureNetwork(name, { isInternal = false } = {}) {
      const find = ask("look at a network", quickMs, (abortSignal) =>
        // The types know no options here; the library passes them on.
        (docker.getNetwork(name).inspect as (options: object) => Promise<object>)({ abortSignal }),
      );
      const isThere = await find.then(
        () => true,
        (error: unknown) => {
          if (isMissing(error)) return false;
          throw error;
        },
      );
      if (isThere) return;
      const create = ask("create a network", workMs, (abortSignal) =>
        docker.createNetwork({
          Name: name,
          Driver: "bridge",
          CheckDuplicate: true,
          Internal: isInternal,
          // Bots have nothing to say to each other. Podman knows no such option.
          ...(isPodman ? {} : { Options: { "com.docker.network.bridge.enable_icc": "false" } }),
          abortSignal,
        }),
      );
      await create.catch((error: unknown) => {
        const isThereNow = error instanceof EngineError && /already (?:exists|used)/.test(error.message);
        if (!isThereNow) throw error;
      });
    },
    async bridgeOf(network) {
      const info = await ask("describe itself", quickMs, (abortSignal) =>
        (docker.info as (options: object) => Promise<{ SecurityOptions?: string[] }>)({ abortSignal }),
      );
      const isRootless = info.SecurityOptions?.some((option) => /name=rootless/.test(option)) ?? false;
      const bridge = await (isPodman
        ? ask("look at a network", quickMs, (signal) => podmanBridge(socket, network, signal))
        : ask("look at a network", quickMs, (abortSignal) => dockerBridge(docker, network, abortSignal)));
      return isRootless ? { ...bridge, name: undefined } : bridge;
    },
    async events(label) {
      const stream = await ask("tell of events", quickMs, () =>
        docker.getEvents({ filters: { type: ["container"], label: [label] } }),
      );
      return stream as NodeJS.ReadableStream & { destroy(): void };
    },
  };
}

/** Of an image that a container or another image is made of. */
function isStillNeeded(error: unknown): boolean {
  return error instanceof EngineError && /in use|used by|conflict|dependent child/i.test(error.message);
}

async function dockerBridge(docker: Docker, network: string, abortSignal: AbortSignal): Promise<Bridge> {
  const inspect = docker.getNetwork(network).inspect as (
    options: object,
  ) => Promise<Docker.NetworkInspectInfo>;
  const { Id, Driver, Options, IPAM } = await inspect.call(docker.getNetwork(network), { abortSignal });
  const gateways = (IPAM?.Config ?? []).flatMap((each) => each.Gateway || chosenGateway(each));
  const name = Options?.["com.docker.network.bridge.name"] ?? `br-${Id.slice(0, 12)}`;
  return { name: Driver === "bridge" ? name : undefined, gateways };
}

// Its answer to Docker's question does not name the bridge.
async function podmanBridge(socketPath: string, network: string, signal: AbortSignal): Promise<Bridge> {
  const path = `/v4.0.0/libpod/networks/${encodeURIComponent(network)}/json`;
  const { status, text } = await send({ socketPath, path, signal });
  if (status !== 200) throw Object.assign(new Error(text), { statusCode: status });
  const { driver, network_interface, subnets } = JSON.parse(text) as {
    driver: string;
    network_interface?: string;
    subnets?: { gateway?: string }[];
  };
  const gateways = (subnets ?? []).flatMap(({ gateway }) => gateway ?? []);
  return { name: driver === "bridge" ? network_interface : undefined, gateways };
}

// Until version 5 it knew Docker's question for this only by its own name.
async function limitPodmanCpu(
  socketPath: string,
  { name, millicores, signal }: { name: string; millicores: number; signal: AbortSignal },
): Promise<void> {
  const { CpuPeriod: period, CpuQuota: quota } = cpuLimit(millicores);
  const { status, text } = await send(
    {
      ...{ socketPath, signal, method: "POST", headers: { "content-type": "application/json" } },
      path: `/v4.0.0/libpod/containers/${encodeURIComponent(name)}/update`,
    },
    JSON.stringify({ cpu: { period, quota } }),
  );
  if (status >= 300) throw Object.assign(new Error(text), { statusCode: status });
}

function isSince(version: string, [major, minor]: readonly [number, number]): boolean {
  const [ofMajor = 0, ofMinor = 0] = version.split(".").map((part) => Number.parseInt(part, 10));
  return ofMajor > major || (ofMajor === major && ofMinor >= minor);
}

function send(options: RequestOptions, body?: string): Promise<{ status: number; text: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; text: string }>();
  request(options, (response) => {
    let text = "";
    response.setEncoding("utf8").on("data", (part: string) => (text += part));
    response.once("error", reject);
    response.once("end", () => resolve({ status: response.statusCode ?? 0, text }));
  })
    .once("error", reject)
    .end(body);
  return promise;
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
