import type { Digest } from "@vocalhost/images";
import { request } from "node:http";
import type { Socket } from "node:net";
import { chosenGateway } from "./chosen-gateway.ts";
import type {
  ContainerRequest,
  EngineInfo,
  EngineVersion,
  FoundContainer,
  FoundImage,
  FoundNetwork,
  ListedContainer,
  ListedImage,
} from "./engine-answers.ts";
import { createEngineClient, type EngineClient, type EngineQuestion } from "./engine-client.ts";
import { EngineError, isMissing, toEngineError } from "./engine-error.ts";

interface EngineIdentity {
  name: "docker" | "podman";
  version: string;
}

export interface EngineImage {
  id: Digest;
  architecture: string;
  labels: Record<string, string>;
  /** Unpacked, with all it is built on. */
  bytes: number;
  /** Instructions that engines run when an image is built on it (ONBUILD). */
  onBuild: string[];
  /** Folders that engines keep on the disk of this machine: without a limit, and writable in spite of a read-only root. */
  volumes: string[];
}

export interface Bridge {
  /** Interface of this machine; undefined where the engine has none here, because it runs without root. */
  name: string | undefined;
  /** Addresses of this machine on it. */
  gateways: string[];
}

export interface EngineLimits {
  /** For calls that only read. @default 10 s */
  quickMs: number;
  /** For calls that make or end something: 20 at once on two cores take 6 s. @default 30 s */
  workMs: number;
}

const LIMITS: EngineLimits = { quickMs: 10_000, workMs: 30_000 };
const LAST_LINES = 30;
export const CPU_PERIOD_US = 100_000;

export async function openEngine(socket: string, limits: EngineLimits = LIMITS): Promise<Engine> {
  const client = createEngineClient(socket);
  const identity = await askWithin({ socket, call: "say what it is", limitMs: limits.quickMs }, (signal) =>
    identifyEngine(client, signal),
  );
  return new Engine(client, { ...identity, socket, limits });
}

/** Docker or Podman at its socket. Each call has a limit of its own, because an engine may take a request and never answer. */
export class Engine {
  readonly name: "docker" | "podman";
  readonly version: string;
  readonly socket: string;
  /** For calls with limits of their own, such as pulling. */
  readonly client: EngineClient;
  /** Whether it can change the CPU limit of a running container: Docker, and Podman since 4.3. */
  readonly limitsCpuLater: boolean;
  readonly #limits: EngineLimits;
  #info: Promise<EngineInfo> | undefined;

  constructor(
    client: EngineClient,
    { name, version, socket, limits }: EngineIdentity & { socket: string; limits: EngineLimits },
  ) {
    this.client = client;
    this.name = name;
    this.version = version;
    this.socket = socket;
    this.limitsCpuLater = name !== "podman" || isSince(version, [4, 3]);
    this.#limits = limits;
  }

  list(label: string): Promise<ListedContainer[]> {
    const query = { all: true, filters: { label: [label] } };
    return this.#ask("list containers", (signal) =>
      this.client.ask({ path: "/containers/json", query, signal }),
    );
  }

  /** Returns undefined when there is no container of this name. */
  inspect(name: string): Promise<FoundContainer | undefined> {
    return unlessMissing(
      this.#ask("look at a container", (signal) =>
        this.client.ask<FoundContainer>({ path: `/containers/${name}/json`, signal }),
      ),
    );
  }

  /** Returns undefined when the image is not in the engine's storage. */
  async inspectImage(reference: string): Promise<EngineImage | undefined> {
    const found = await unlessMissing(
      this.#ask("look at an image", (signal) =>
        this.client.ask<FoundImage>({ path: `/images/${reference}/json`, signal }),
      ),
    );
    if (!found) return undefined;
    const { Labels, OnBuild, Volumes } = found.Config ?? {};
    return {
      id: `sha256:${found.Id.replace(/^sha256:/, "")}`,
      architecture: found.Architecture,
      labels: Labels ?? {},
      bytes: found.Size,
      onBuild: OnBuild ?? [],
      volumes: Object.keys(Volumes ?? {}),
    };
  }

  create({ name, ...body }: ContainerRequest): Promise<void> {
    return this.#work("create a container", {
      ...{ method: "POST", path: "/containers/create", query: { name }, body },
    });
  }

  /** Starts a container, and writes this to its standard input. */
  async startWith(name: string, input: string): Promise<void> {
    const { quickMs, workMs } = this.#limits;
    // Attached before it starts: its program then finds its input or the end of it, and never waits for ever.
    const stdin = await this.#ask(
      "attach to a container",
      (signal) => attachInput(this.socket, name, signal),
      workMs,
    );
    try {
      await this.#work("start a container", { method: "POST", path: `/containers/${name}/start` });
      await this.#ask("write to a container", () => writeAll(stdin, input), quickMs);
    } finally {
      stdin.destroySoon();
    }
  }

  /** Does nothing if the container does not run. */
  async kill(name: string, signal: "SIGTERM" | "SIGKILL"): Promise<void> {
    const query = { signal };
    await unlessMissing(
      this.#work("end a container", { method: "POST", path: `/containers/${name}/kill`, query }).catch(
        unlessSaid(/not running|is not in|stopped|exited/),
      ),
    );
  }

  /** Does nothing if the container is paused. */
  async pause(name: string): Promise<void> {
    const pause = this.#work("pause a container", { method: "POST", path: `/containers/${name}/pause` });
    await pause.catch(unlessSaid(/already paused/i));
  }

  /** Does nothing if the container is not paused, or gone. */
  async unpause(name: string): Promise<void> {
    const unpause = this.#work("wake a container", { method: "POST", path: `/containers/${name}/unpause` });
    await unlessMissing(unpause.catch(unlessSaid(/not paused/i)));
  }

  /** Does nothing if the container is gone. */
  async remove(name: string): Promise<void> {
    const query = { force: true, v: true };
    const remove = this.#work("remove a container", { method: "DELETE", path: `/containers/${name}`, query });
    await unlessMissing(remove.catch(unlessSaid(/already in progress/)));
  }

  /** Returns the end of the output that the engine itself has kept. */
  async lastWords(name: string): Promise<string> {
    const query = { stdout: true, stderr: true, tail: LAST_LINES };
    const bytes = await this.#ask("read a container's output", (signal) =>
      this.client.bytes({ path: `/containers/${name}/logs`, query, signal }),
    ).catch(() => Buffer.alloc(0));
    return withoutFrames(bytes).trimEnd();
  }

  /** Changes the CPU limit of a running container. Does nothing if the container is gone. */
  async limitCpu(name: string, millicores: number): Promise<void> {
    const question = (this.name === "podman" ? podmanLimit : dockerLimit)(name, millicores);
    await unlessMissing(
      this.#ask("limit a container", (signal) => this.client.tell({ method: "POST", ...question, signal })),
    );
  }

  /** Returns images with this label that have a name. */
  images(label: string): Promise<ListedImage[]> {
    const query = { filters: { label: [label] } };
    return this.#ask("list images", (signal) => this.client.ask({ path: "/images/json", query, signal }));
  }

  /** Returns false if a container or another image still needs the image. A missing image counts as removed. */
  async removeImage(reference: string): Promise<boolean> {
    try {
      await this.#work("remove an image", { method: "DELETE", path: `/images/${reference}` });
      return true;
    } catch (error) {
      if (isMissing(error)) return true;
      if (isStillNeeded(error)) return false;
      throw error;
    }
  }

  /** Removes images with this label that are older, have no name, and that no other image is made of. */
  async pruneImages({ label, before }: { label: string; before: number }): Promise<void> {
    const until = new Date(before).toISOString();
    const query = { filters: { dangling: ["true"], label: [label], until: [until] } };
    await this.#work("remove old images", { method: "POST", path: "/images/prune", query }).catch(
      (error: unknown) => {
        if (!isStillNeeded(error)) throw error; // Podman stops at the first such image; the next call removes the others
      },
    );
  }

  /** Returns the folder on the engine's machine in which it keeps everything. */
  async storageFolder(): Promise<string> {
    return (await this.#describe()).DockerRootDir ?? "/";
  }

  async ensureNetwork(network: string, { isInternal = false }: { isInternal?: boolean } = {}): Promise<void> {
    const found = await unlessMissing(
      this.#ask("look at a network", async (signal) => {
        await this.client.tell({ path: `/networks/${network}`, signal });
        return true;
      }),
    );
    if (found) return;
    const body = {
      Name: network,
      Driver: "bridge",
      CheckDuplicate: true,
      Internal: isInternal,
      // Bots must not reach each other. Podman has no such option.
      ...(this.name === "podman" ? {} : { Options: { "com.docker.network.bridge.enable_icc": "false" } }),
    };
    await this.#work("create a network", { method: "POST", path: "/networks/create", body }).catch(
      unlessSaid(/already (?:exists|used)/),
    );
  }

  /** Returns the bridge by which the bots of a network reach this machine. */
  async bridgeOf(network: string): Promise<Bridge> {
    const { SecurityOptions } = await this.#describe();
    const isRootless = SecurityOptions?.some((option) => /name=rootless/.test(option)) ?? false;
    const find = this.name === "podman" ? podmanBridge : dockerBridge;
    const bridge = await this.#ask("look at a network", (signal) => find(this.client, network, signal));
    return isRootless ? { ...bridge, name: undefined } : bridge;
  }

  /** Returns newline-delimited events of containers with this label. The limit is for the beginning of the answer. */
  events(label: string): Promise<NodeJS.ReadableStream & { destroy(): void }> {
    const connection = new AbortController();
    return this.#ask("tell of events", async (limit) => {
      const giveUp = (): void => connection.abort();
      limit.addEventListener("abort", giveUp, { once: true });
      try {
        const filters = { type: ["container"], label: [label] };
        return await this.client.stream({ path: "/events", query: { filters }, signal: connection.signal });
      } finally {
        limit.removeEventListener("abort", giveUp);
      }
    });
  }

  /** Asks only once: the answer does not change, and Podman starts a package manager for each. */
  #describe(): Promise<EngineInfo> {
    this.#info ??= this.#ask("describe itself", (signal) =>
      this.client.ask<EngineInfo>({ path: "/info", signal }),
    ).catch((error: unknown) => {
      this.#info = undefined;
      throw error;
    });
    return this.#info;
  }

  /** A call that makes or ends something. */
  #work(call: string, question: Omit<EngineQuestion, "signal">): Promise<void> {
    return this.#ask(call, (signal) => this.client.tell({ ...question, signal }), this.#limits.workMs);
  }

  #ask<T>(
    call: string,
    question: (signal: AbortSignal) => Promise<T>,
    limitMs = this.#limits.quickMs,
  ): Promise<T> {
    return askWithin({ socket: this.socket, call, limitMs }, question);
  }
}

async function askWithin<T>(
  { socket, call, limitMs }: { socket: string; call: string; limitMs: number },
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

async function unlessMissing<T>(work: Promise<T>): Promise<T | undefined> {
  return work.catch((error: unknown) => {
    if (isMissing(error)) return undefined;
    throw error;
  });
}

/**
 * Reads the engine from a header of the shortest answer there is: for its version, Podman has a package manager look up two
 * programs.
 */
export async function identifyEngine(client: EngineClient, signal: AbortSignal): Promise<EngineIdentity> {
  const answer = await client.stream({ path: "/_ping", signal });
  answer.resume();
  const [, product, version = ""] = /^(Libpod|Docker)\/(\S+)/i.exec(String(answer.headers.server)) ?? [];
  if (product !== undefined) return { name: /docker/i.test(product) ? "docker" : "podman", version };
  // A proxy before the engine does not pass its headers on.
  const { Version, Components } = await client.ask<EngineVersion>({ path: "/version", signal });
  const isPodman = Components?.some(({ Name }) => /podman/i.test(Name)) ?? false;
  return { name: isPodman ? "podman" : "docker", version: Version };
}

/** Tells whether a container or another image is made of the image that could not be removed. */
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

// In Docker's interface Podman does not name the bridge.
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

// Until version 5 Podman had this call only in its own interface.
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

/** Returns a handler that takes an error with these words as success. */
function unlessSaid(words: RegExp): (error: unknown) => void {
  return (error) => {
    if (!(error instanceof EngineError && words.test(error.message))) throw error;
  };
}

// Without a library, because dockerode writes its own options into the container's standard input first.
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
    stream.on("error", () => undefined); // `writeAll` rejects
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
