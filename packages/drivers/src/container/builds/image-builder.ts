import { parseImageReference, readBaseFacts, resolveImage, type Platform } from "@vocalhost/images";
import { createHash } from "node:crypto";
import type { Log } from "@vocalhost/base/log";
import { SourceError, type PullSecret } from "../../driver.ts";
import {
  ImageBuildError,
  type BuiltImage,
  type ImageBuilder,
  type ImageBuildTask,
} from "../../image-builder.ts";
import type { Engine, EngineImage } from "../engine.ts";
import { asDriverError, toEngineError } from "../engine-error.ts";
import { engineName, prepareImage } from "../prepare-image.ts";
import { readEvents } from "../read-events.ts";
import { BASE_NAME, BaseBringer, type BaseOptions } from "./bring-base.ts";
import { openBuildContext } from "./build-context.ts";
import { planDockerfile } from "./plan-dockerfile.ts";
import type { PulledImages } from "./pulled-images.ts";
import { runEngineBuild } from "./run-engine-build.ts";
import { request } from "node:http";

/** Images that were built are pushed there. */
export interface BuildRegistry {
  /** `registry.example.com/team/bots`; builds are its tags. */
  repository: string;
  secret: PullSecret | undefined;
}

export interface ImageBuilderSettings extends Pick<
  BaseOptions,
  "imageFolders" | "ownFolder" | "productVersion" | "environment"
> {
  /** Version of the base that bots without a Dockerfile are built on. */
  baseVersion: string;
  memoryMib: number;
  /** Whether commands of a Dockerfile may use the instances' network; otherwise they have none. */
  hasNetwork: boolean;
  /** Given to npm in a Dockerfile. */
  npmRegistry: string | undefined;
  registry: BuildRegistry | undefined;
  /** Internal registries that images may come from. */
  registries: readonly string[];
}

export interface ImageBuilderOptions {
  engine: Engine;
  platform: Platform;
  service: string;
  network: string;
  settings: ImageBuilderSettings;
  pulled: PulledImages;
  mayReach(url: URL, address?: string): boolean;
  log: Log;
  /** @default the machine's */
  nowMs?: () => number;
}

export const buildLabels = {
  service: "io.github.vocalhost.build.service",
  organization: "io.github.vocalhost.build.organization",
} as const;

/** The name of builds in the engine. */
const BUILDS = "localhost/vocalhost/builds";
const OWN_BYTES_MAX = 2 * 1024 ** 3; // as much as an upload may unpack to
const LAYERS_KEPT_MS = 7 * 86_400_000; // of removed builds, because they hasten the next one
const LEFT_MS = 3_600_000; // no build takes that long
const YOUNG_MS = 86_400_000; // a deployment under way may need it

/** Builds images with the engine that instances run in. */
export class EngineImageBuilder implements ImageBuilder {
  readonly #options: ImageBuilderOptions;
  readonly #base: BaseBringer;

  constructor(options: ImageBuilderOptions) {
    const { engine, platform, log, settings } = options;
    this.#options = options;
    this.#base = new BaseBringer({ engine, platform, log, ...settings });
  }

  async build(task: ImageBuildTask): Promise<BuiltImage> {
    try {
      return await this.#build(task);
    } catch (error) {
      if (error instanceof SourceError) throw new ImageBuildError(error.message, { cause: error });
      throw asDriverError(error);
    }
  }

  async has(reference: string): Promise<boolean> {
    if (registryOf(reference) !== "localhost") return true; // pulled again if need be
    return (await this.#options.engine.inspectImage(engineName(reference))) !== undefined;
  }

  async keepOnly(needed: ReadonlySet<string>): Promise<number> {
    const { engine, service, pulled, nowMs = Date.now } = this.#options;
    const label = `${buildLabels.service}=${service}`;
    const before = nowMs() - YOUNG_MS;
    let removed = 0;
    const remove = async (reference: string): Promise<boolean> => {
      const isGone = await engine.removeImage(reference);
      if (isGone) removed += 1;
      return isGone;
    };
    for (const { Id, RepoTags, Created } of await engine.images(label)) {
      if (Created * 1_000 > before || needed.has(`${BUILDS}@sha256:${Id.replace(/^sha256:/, "")}`)) continue;
      for (const name of RepoTags ?? [])
        if (name.startsWith(`${BUILDS}:`) && !needed.has(name)) await remove(name);
    }
    for (const reference of await pulled.notedBefore(before))
      if (!needed.has(reference) && (await remove(reference))) await pulled.drop(reference);
    const given = { name: buildLabels.service, value: service };
    await removeLeftovers(engine, { label: given, before: nowMs() - LEFT_MS });
    await engine.pruneImages({ label, before: nowMs() - LAYERS_KEPT_MS });
    return removed;
  }

  async #build(task: ImageBuildTask): Promise<BuiltImage> {
    const { engine, service, settings } = this.#options;
    const { say, signal, buildId } = task;
    const name = `${BUILDS}:${task.tag}`;
    const context = await openBuildContext(task, settings.baseVersion);
    const plan = planDockerfile(context.dockerfile);
    const images = new Map<string, EngineImage>();
    for (const image of plan.images) images.set(image, await this.#find(image, task));
    const args: Record<string, string> =
      settings.npmRegistry === undefined ? {} : { npm_config_registry: settings.npmRegistry };
    const dockerfile = plan.write({
      nameOf: (image) => images.get(image)?.id ?? image,
      labels: { [buildLabels.service]: service, [buildLabels.organization]: shortHash(task.organizationId) },
      args: Object.keys(args),
    });
    const { tar, path } = await context.pack(dockerfile, signal);
    const network = settings.hasNetwork ? this.#options.network : undefined;
    const id = await runEngineBuild(engine, {
      ...{ buildId, tar, dockerfilePath: path, name, args, network, say, signal },
      memoryMib: settings.memoryMib,
    });
    const built = await engine.inspectImage(id);
    if (!built) throw new ImageBuildError("The image is gone from the container engine; build again");
    const bytes = Math.max(0, built.bytes - Math.max(0, ...[...images.values()].map((each) => each.bytes)));
    if (bytes > OWN_BYTES_MAX) {
      await engine.removeImage(name);
      throw new ImageBuildError(
        `The image has ${inMib(bytes)} MiB besides its base; at most ${inMib(OWN_BYTES_MAX)} are kept`,
      );
    }
    const reference = (await this.#push(name, task)) ?? `${BUILDS}@${id}`;
    return { reference, baseVersion: readBaseFacts(built.labels)?.baseVersion, bytes };
  }

  /** Returns the digest in the registry; undefined where no registry is configured. */
  async #push(name: string, { tag, say, signal }: ImageBuildTask): Promise<string | undefined> {
    const { settings } = this.#options;
    if (!settings.registry) return undefined;
    say(`Pushing to ${settings.registry.repository}`);
    return pushBuilt(this.#options, settings.registry, { name, tag, signal });
  }

  async #find(image: string, task: ImageBuildTask): Promise<EngineImage> {
    const version = baseVersionIn(image);
    const reference =
      version === undefined ? await this.#pull(image, task) : await this.#base.bring(version, task);
    const found = await this.#options.engine.inspectImage(reference);
    if (!found) throw new ImageBuildError(`The image ${image} is not there any more; build again`);
    if (found.onBuild.length > 0)
      throw new ImageBuildError(
        `The image ${image} has instructions of its own for builds (ONBUILD), which are not run here`,
      );
    return found;
  }

  async #pull(image: string, { say, signal }: ImageBuildTask): Promise<string> {
    const { engine, platform, mayReach, pulled, settings } = this.#options;
    const registry = registryOf(image);
    if (registry === "localhost" && !settings.registries.includes(registry))
      throw new ImageBuildError(`The image ${image} is not for builds: it belongs to this machine`);
    say(`Looking for ${image}`);
    const source = { kind: "image", reference: image, pullSecret: undefined } as const;
    const context = { engine, platform, mayReach, pulled: pulled.note };
    const { reference } = await prepareImage(source, context, { progressed: say, signal });
    return engineName(reference);
  }
}

interface PushEvent {
  error?: string;
  errorDetail?: { message?: string };
}

/** Pushes an image of the engine. Returns its name by digest in the registry. */
async function pushBuilt(
  { engine, platform, mayReach }: ImageBuilderOptions,
  { repository, secret }: BuildRegistry,
  { name, tag, signal }: { name: string; tag: string; signal: AbortSignal },
): Promise<string> {
  const reference = `${repository}:${tag}`;
  try {
    const credentials = secret && { username: secret.username, password: secret.token };
    const post = { method: "POST", signal } as const;
    await engine.client.tell({ ...post, path: `/images/${name}/tag`, query: { repo: repository, tag } });
    const stream = await engine.client.stream({ ...post, path: `/images/${reference}/push`, credentials });
    for await (const event of readEvents<PushEvent>(stream)) {
      const problem = event.errorDetail?.message ?? event.error;
      if (problem !== undefined) throw new Error(problem);
    }
    return (await resolveImage(reference, { platform, credentials, mayReach, signal })).pinned;
  } catch (error) {
    signal.throwIfAborted();
    const known = toEngineError(error, { call: "push an image", socket: engine.socket });
    throw new SourceError(
      "UNKNOWN_ERROR",
      `The image could not be pushed to ${repository}: ${known.message}`,
      {
        cause: error,
      },
    );
  } finally {
    await engine.removeImage(reference).catch(() => undefined); // the name; the image has another
  }
}

/** Returns the version of the official base, if the image is that. */
function baseVersionIn(image: string): string | undefined {
  return new RegExp(`^(?:docker\\.io/)?${BASE_NAME}:([^@]+)$`).exec(image)?.[1];
}

function registryOf(image: string): string {
  try {
    return parseImageReference(image).registry;
  } catch (cause) {
    throw new ImageBuildError(`${image.slice(0, 200)} is not the name of an image`, { cause });
  }
}

function shortHash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 12);
}

function inMib(bytes: number): number {
  return Math.round(bytes / 1024 ** 2);
}

interface ExternalContainer {
  Id: string;
  ImageID: string;
  State: string;
  /** When, as text or in seconds. */
  Created: string | number;
}

const LIMIT_MS = 30_000;

/** Removes containers of builds that were given up, which Podman keeps and its Docker-compatible interface does not list. */
async function removeLeftovers(
  engine: Engine,
  { label, before }: { label: { name: string; value: string }; before: number },
): Promise<void> {
  if (engine.name !== "podman") return;
  const text = await ask(engine.socket, "GET", "/v4.0.0/libpod/containers/json?all=true&external=true");
  for (const { Id, ImageID, State, Created } of (JSON.parse(text) ?? []) as ExternalContainer[]) {
    const createdAt = typeof Created === "number" ? Created * 1_000 : Date.parse(Created);
    if (State !== "storage" || !(createdAt < before)) continue;
    const image = await engine.inspectImage(ImageID);
    if (image?.labels[label.name] !== label.value) continue; // another service's
    await ask(engine.socket, "DELETE", `/v4.0.0/libpod/containers/${Id}?force=true`);
  }
}

function ask(socket: string, method: "GET" | "DELETE", path: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const call = request({ socketPath: socket, method, path, signal: AbortSignal.timeout(LIMIT_MS) });
  call.on("error", reject);
  call.on("response", (response) => {
    let text = "";
    response.setEncoding("utf8").on("data", (part: string) => (text += part));
    response.on("error", reject);
    response.on("end", () =>
      (response.statusCode ?? 500) < 300
        ? resolve(text)
        : reject(new Error(`Podman answered ${text.slice(0, 300)}`)),
    );
  });
  call.end();
  return promise;
}
