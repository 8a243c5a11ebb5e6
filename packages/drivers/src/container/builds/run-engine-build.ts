import type { Digest } from "@vocalhost/images";
import { readdir, readFile, statfs } from "node:fs/promises";
import type { Readable } from "node:stream";
import { ImageBuildError } from "../../image-builder.ts";
import type { EngineQuestion } from "../engine-client.ts";
import type { Engine } from "../engine.ts";
import { EngineError, toEngineError } from "../engine-error.ts";
import { readEvents } from "../read-events.ts";

export interface EngineBuild {
  buildId: string;
  tar: Readable;
  /** Path in the archive. */
  dockerfilePath: string;
  name: string;
  args: Record<string, string>;
  memoryMib: number;
  network: string | undefined;
  say(line: string): void;
  signal: AbortSignal;
}

interface BuildEvent {
  stream?: string;
  error?: string;
  errorDetail?: { message?: string };
  aux?: { ID?: string };
}

const LOW_SHARES = 128; // of 1024: calls go first
const FILE_MAX_BYTES = 2 * 1024 ** 3;
const FREE_MIN_BYTES = 1024 ** 3; // kept for calls and records
const LOOK_AT_DISK_MS = 1_000;

/** Has the engine build an archive, in the given network or in none. Returns the image's id. */
export async function runEngineBuild(engine: Engine, build: EngineBuild): Promise<Digest> {
  const group = `vocalhost-build-${build.buildId}`;
  const ended = new AbortController();
  const full = new AbortController();
  const abortSignal = AbortSignal.any([build.signal, full.signal]);
  const lines = createLines(build.say);
  if (engine.name === "podman") await endGroup(group); // of a controller that died while it built the same
  void watchDisk(engine, ended.signal, () => full.abort());
  try {
    const stream = await engine.client.stream({
      ...{ method: "POST", path: "/build", query: await optionsFor(engine, build, group) },
      ...{ body: build.tar, signal: abortSignal },
    });
    let id: string | undefined;
    for await (const event of readEvents<BuildEvent>(stream)) {
      const problem = event.errorDetail?.message ?? event.error;
      if (problem !== undefined) throw new Error(problem);
      if (event.stream !== undefined) lines.add(event.stream);
      id = event.aux?.ID ?? id;
    }
    lines.end();
    abortSignal.throwIfAborted();
    const found = await engine.inspectImage(id ?? build.name);
    if (!found) throw new ImageBuildError("The container engine did not keep what it built");
    return found.id;
  } catch (error) {
    build.signal.throwIfAborted();
    if (full.signal.aborted)
      throw new EngineError("full", "There is no space left for builds on the disk of the container engine");
    throw toBuildError(error, { engine, build, lastLine: lines.last() });
  } finally {
    ended.abort();
    build.tar.destroy();
    // Podman 4 does not end the command of a build that was given up.
    if (abortSignal.aborted && engine.name === "podman") await endGroup(group);
  }
}

/** Returns the query of a build, which the engines read differently. */
async function optionsFor(
  engine: Engine,
  build: EngineBuild,
  group: string,
): Promise<NonNullable<EngineQuestion["query"]>> {
  const memory = build.memoryMib * 1024 * 1024;
  const both = {
    dockerfile: build.dockerfilePath,
    t: build.name,
    buildargs: build.args,
    rm: true,
    forcerm: true,
    memory,
    memswap: memory,
    cpushares: LOW_SHARES,
  };
  if (engine.name === "docker")
    return {
      ...both,
      networkmode: build.network ?? "none",
      ulimits: JSON.stringify([{ Name: "fsize", Soft: FILE_MAX_BYTES, Hard: FILE_MAX_BYTES }]),
    };
  // Podman 4 takes no notice of `networkmode`, not even of "none": commands would be in the network of the machine.
  const network = build.network ?? `${group.slice(0, 15)}-offline`;
  if (build.network === undefined) await engine.ensureNetwork(network, { isInternal: true });
  return {
    ...both,
    nsoptions: JSON.stringify([{ Name: "network", Host: false, Path: network }]),
    ulimits: JSON.stringify([`fsize=${FILE_MAX_BYTES}:${FILE_MAX_BYTES}`]),
    cgroupparent: `/${group}`,
  };
}

function toBuildError(
  error: unknown,
  { engine, build, lastLine }: { engine: Engine; build: EngineBuild; lastLine: string },
): Error {
  if (error instanceof ImageBuildError) return error;
  const known = toEngineError(error, { call: "build an image", socket: engine.socket });
  if (known instanceof EngineError && ["full", "unreachable", "hung"].includes(known.kind)) return known;
  const text = (error instanceof Error ? error.message : String(error)).trim();
  const isKilled = /\b137\b/.test(text) || lastLine.endsWith("exited on killed");
  const hint = isKilled ? ` (ended for want of memory? A build has ${build.memoryMib} MiB)` : "";
  return new ImageBuildError(`${shown(text)}${hint}`, { cause: error });
}

/** Removes internals of the engine's program from a message. */
function shown(text: string): string {
  return text
    .replace(/&imagebuilder\.Step\{[\s\S]*$/, "")
    .replace(/\s+/g, " ")
    .trim()
    .slice(0, 1_000);
}

/** Output comes in pieces of any length. */
function createLines(say: (line: string) => void): {
  add(text: string): void;
  end(): void;
  last(): string;
} {
  let rest = "";
  let last = "";
  const tell = (line: string): void => {
    if (line.trim() === "") return;
    last = line.trimEnd();
    say(last);
  };
  return {
    add(text) {
      const lines = (rest + text).split(/\r?\n|\r/);
      rest = (lines.pop() ?? "").slice(-LINE_MAX_CHARACTERS);
      lines.forEach(tell);
    },
    end: () => tell(rest),
    last: () => last,
  };
}

const LINE_MAX_CHARACTERS = 8_192;

/** Engines bound the memory of a build, and not what it writes. */
async function watchDisk(engine: Engine, signal: AbortSignal, isFull: () => void): Promise<void> {
  const folder = await engine.storageFolder().catch(() => undefined);
  while (folder !== undefined && !signal.aborted) {
    const free = await statfs(folder).then(
      ({ bavail, bsize }) => bavail * bsize,
      () => Infinity, // not a folder of ours to see
    );
    if (free < FREE_MIN_BYTES) return isFull();
    await sleep(LOOK_AT_DISK_MS, signal);
  }
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms);
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    }
    signal.addEventListener("abort", done, { once: true });
  });
}

/** Kills what runs in a control group, where we may. */
async function endGroup(name: string): Promise<void> {
  const names = await readdir("/proc").catch(() => []);
  for (const pid of names.filter((each) => /^\d+$/.test(each))) {
    const groups = await readFile(`/proc/${pid}/cgroup`, "utf8").catch(() => "");
    if (!groups.split("\n").some((line) => line.endsWith(`/${name}`))) continue;
    try {
      process.kill(Number(pid), "SIGKILL");
    } catch {
      // gone, or not ours
    }
  }
}
