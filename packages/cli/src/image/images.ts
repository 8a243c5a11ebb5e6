import {
  BuildProblem,
  describePlatform,
  EngineAddressError,
  EngineError,
  engineSockets,
  ImageError,
  loadIntoEngine,
  openImageFolder,
  parseImageReference,
  parsePlatform,
  pushImage,
  readAuthFile,
  thisPlatform,
  type Image,
  type ImageErrorCode,
  type ImageFolder,
  type Platform,
  type RegistryCredentials,
} from "@vocalhost/images";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { childEnvironment, readImageVariables } from "../config.ts";
import type { CommandContext } from "../define-command.ts";
import { Problem, usageProblem } from "../problem.ts";
import { shownBytes } from "../results.ts";
import type { LoadOptions, PushOptions } from "./image-options.ts";

/** `vocalhost image push` */
export async function push(options: PushOptions, context: CommandContext): Promise<number> {
  const { name } = options;
  const images = await openKeptImages(options.images);
  const pushed = await withImageProblems(async () => {
    const { registry } = parseImageReference(name);
    const image = await requireKept(images, name, platformOf(options.platform));
    const credentials = await findCredentials(registry, options.authFile);
    return context.ui.task(`Pushing ${name}`, (update) =>
      pushImage(image, name, {
        credentials,
        plainRegistries: options.plain ? [registry] : [],
        onProgress: ({ sentBytes, totalBytes }) => update(sentBytes / totalBytes),
        signal: context.signal,
      }),
    );
  });
  if (context.isJson) context.ui.print(JSON.stringify({ ok: true, name, ...pushed }));
  else {
    context.ui.print(pushed.pinned);
    context.ui.note(
      pushed.uploadedBytes === 0
        ? "The registry had all of it."
        : `Sent ${shownBytes(pushed.uploadedBytes)}.`,
    );
  }
  return 0;
}

async function findCredentials(
  registry: string,
  named: string | undefined,
): Promise<RegistryCredentials | undefined> {
  const { registryUser, authFiles } = readImageVariables();
  if (named === undefined && registryUser) return registryUser;
  if (named !== undefined && !existsSync(named)) throw usageProblem(`There is no file ${named}`);
  for (const file of named === undefined ? authFiles : [named]) {
    const text = await readFile(file, "utf8").catch(() => undefined);
    if (text === undefined) continue;
    try {
      const found = readAuthFile(text, registry);
      if (found) return found;
    } catch {
      throw usageProblem(`${file} is not a file that docker login or podman login wrote`);
    }
  }
  return undefined;
}

/** `vocalhost image load` */
export async function load(options: LoadOptions, context: CommandContext): Promise<number> {
  const { name } = options;
  const images = await openKeptImages(options.images);
  const image = await requireKept(images, name, platformOf(options.platform));
  const socket = options.socket ?? findSocket();
  if (socket === undefined)
    throw new Problem("engine_not_found", "Neither Docker nor Podman listens on this machine", {
      why: "No variable names an engine, and there is no socket at the usual places.",
      fixes: [
        "Podman: systemctl enable --now podman.socket, or podman system service --time 0 unix:///run/podman/podman.sock",
        "Name the engine's socket with --socket.",
        "Or write an archive: vocalhost image build --output bot.tar, then docker load -i bot.tar.",
      ],
    });
  await withImageProblems(() =>
    context.ui.task(`Loading ${name}`, (update) =>
      loadIntoEngine({ socket, image, name, onProgress: update, signal: context.signal }),
    ),
  );
  if (context.isJson) context.ui.print(JSON.stringify({ ok: true, name, digest: image.digest, socket }));
  else context.ui.print(`${name}  loaded into the engine at ${socket}`);
  return 0;
}

/** The one that was named, or the first that is there. */
function findSocket(): string | undefined {
  try {
    const sockets = engineSockets(childEnvironment(), homedir());
    return (sockets.length === 1 ? sockets[0] : sockets.find(({ path }) => existsSync(path)))?.path;
  } catch (error) {
    if (error instanceof EngineAddressError) throw usageProblem(error.message);
    throw error;
  }
}

/** Images of this machine, where `image build` left them. */
export function openKeptImages(named: string | undefined): Promise<ImageFolder> {
  return openImageFolder(
    named === undefined ? join(readImageVariables().cacheFolder, "vocalhost/images") : resolve(named),
  );
}

async function requireKept(images: ImageFolder, name: string, platform: Platform): Promise<Image> {
  const image = await images.find(name, platform);
  if (image) return image;
  throw new Problem(
    "image_not_built",
    `There is no image ${name} for ${describePlatform(platform)} on this machine`,
    {
      fixes: [
        `Make it: vocalhost image build --name ${name} --platform ${describePlatform(platform)}`,
        `Images are kept in ${images.folder}; name another folder with --images.`,
      ],
    },
  );
}

export function platformOf(named: string | undefined): Platform {
  return named === undefined ? thisPlatform() : parsePlatform(named);
}

const FIXES: Record<ImageErrorCode, string[]> = {
  REFERENCE_INVALID: ["Write it as registry.example.com/team/name:tag."],
  IMAGE_NOT_FOUND: ["Check the name and the tag."],
  IMAGE_UNAUTHORIZED: [
    "Sign in with docker login or podman login, or set VOCALHOST_REGISTRY_USERNAME and VOCALHOST_REGISTRY_PASSWORD.",
    "May this user push there?",
  ],
  IMAGE_WRONG_PLATFORM: ["Choose another with --platform."],
  REGISTRY_UNREACHABLE: ["Check the registry's name and port.", "A registry without TLS needs --plain."],
  REGISTRY_FAILED: ["Try again; if it stays so, ask whoever runs the registry."],
};

/** Does the work, and says what a user can do if it fails. */
export async function withImageProblems<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ImageError)
      throw new Problem(error.code.toLowerCase(), error.message, { fixes: FIXES[error.code], cause: error });
    if (error instanceof EngineError)
      throw new Problem("engine_failed", error.message, {
        fixes: [
          "Is it running, and may you use it? Name its socket with --socket.",
          "Or write an archive: vocalhost image build --output bot.tar, then docker load -i bot.tar.",
        ],
        cause: error,
      });
    if (error instanceof BuildProblem)
      throw new Problem("image_not_built", error.message, { why: error.output || undefined, cause: error });
    throw error;
  }
}
