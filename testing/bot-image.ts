import { createImage, folderEntries, packLayer, streamArchive, thisPlatform } from "@vocalhost/images";
import { imageLabels, type Image, type LayerEntry } from "@vocalhost/images";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { packTar } from "modern-tar";
import type Docker from "dockerode";
import { isBuilt, nodeFlags, programOf } from "./programs.ts";

export const BOT_USER = 10001;
const REPOSITORY = resolve(import.meta.dirname, "..");
const PACKAGES = ["packages/sdk", "packages/protocol", "packages/audio", "packages/rooms"];
const PROGRAMS = isBuilt ? "dist" : "src";
// Of what bots may use, what is large and no test needs.
const LEFT_OUT = /^(?:sherpa-onnx|@types\/|@vocalhost\/|vocalhost$)/;
const FOR_ROOMS = /^@livekit\/rtc-ffi-bindings-/;

export interface BotImageOptions {
  /** @default localhost/bot:test */
  name?: string;
  /** Whether its bots can join rooms, for 25 MB more. */
  hasRooms?: boolean;
}

/** Node, what it needs of this machine, and the SDK as it is in this repository: enough for a bot, and made in seconds. */
export async function loadBotImage(docker: Docker, options: BotImageOptions = {}): Promise<string> {
  const { name = "localhost/bot:test" } = options;
  const folder = mkdtempSync(join(tmpdir(), "bot-image-"));
  try {
    const image = await makeBotImage(folder, options);
    const archive = streamArchive({ image, name, format: "docker" });
    await drain(await docker.loadImage(archive));
    return name;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export async function makeBotImage(
  folder: string,
  { hasRooms = false }: BotImageOptions = {},
): Promise<Image> {
  const layer = await packLayer({
    entries: [...programEntries(), ...(await sdkEntries(hasRooms))],
    file: join(folder, "bot-image.tar.gz"),
    createdBy: "test",
    level: 0, // goes from one process to another, and that is all
  });
  return createImage({
    platform: thisPlatform(),
    layers: [layer],
    defaults: {
      User: `${BOT_USER}:${BOT_USER}`,
      WorkingDir: "/app",
      Env: ["PATH=/usr/local/bin"],
      Entrypoint: ["/usr/local/bin/node", ...nodeFlags, inImage(programOf("sdk", "instance/main"))],
      Labels: { [imageLabels.baseVersion]: "0.2.0", [imageLabels.productVersion]: "0.1.0" },
    },
  });
}

/** An image with this bot, on another that is loaded. Gives its id. */
export async function commitBot(docker: Docker, base: string, bot: string): Promise<string> {
  const container = await docker.createContainer({ Image: base });
  try {
    const tar = await packTar([
      { header: { name: "app/bot.ts", size: Buffer.byteLength(bot), mode: 0o644 }, body: bot },
    ]);
    await container.putArchive(Buffer.from(tar), { path: "/" });
    const { Id } = (await container.commit({ pause: false })) as { Id: string };
    return Id.replace(/^(?!sha256:)/, "sha256:");
  } finally {
    await container.remove({ force: true });
  }
}

function programEntries(): LayerEntry[] {
  const node = realpathSync(process.execPath);
  const { stdout } = spawnSync("ldd", [node], { encoding: "utf8" });
  const libraries = [...stdout.matchAll(/(\/\S+)/g)].map(([path]) => path);
  return [
    ...[
      "usr",
      "usr/local",
      "usr/local/bin",
      "app",
      "app/node_modules",
      "etc",
      "proc",
      "sys",
      "dev",
      "run",
    ].map(directory),
    { ...directory("tmp"), mode: 0o1777 },
    directory("run/vocalhost"),
    { ...place("usr/local/bin/node", 0o755), kind: "file", source: node },
    ...directoriesOf(libraries.map((path) => path.slice(1))).map(directory),
    ...libraries.map((path): LayerEntry => ({
      ...place(path.slice(1), 0o755),
      kind: "file",
      source: realpathSync(path),
    })),
    text("etc/passwd", `bot:x:${BOT_USER}:${BOT_USER}::/app:/usr/sbin/nologin\n`),
    text("etc/group", `bot:x:${BOT_USER}:\n`),
    text("app/package.json", `{ "type": "module" }`),
    { ...place("app/node_modules/vocalhost", 0o777), kind: "symlink", target: "/vocalhost/packages/sdk" },
  ];
}

async function sdkEntries(hasRooms: boolean): Promise<LayerEntry[]> {
  const entries: LayerEntry[] = [];
  for (const name of PACKAGES)
    for (const part of [PROGRAMS, "package.json"]) {
      const source = join(REPOSITORY, name, part);
      const at = `vocalhost/${name}/${part}`;
      if (part === PROGRAMS)
        entries.push(
          ...(await folderEntries({
            folder: source,
            at,
            uid: 0,
            gid: 0,
            keeps: (path) => !/\.(?:test|d)\.ts$/.test(path),
          })),
        );
      else entries.push({ ...place(at, 0o644), kind: "file", source });
    }
  const isLeftOut = (name: string): boolean => LEFT_OUT.test(name) || (!hasRooms && FOR_ROOMS.test(name));
  const modules = closureOf(
    PACKAGES.map((name) => join(REPOSITORY, name)),
    isLeftOut,
  );
  for (const folder of modules)
    entries.push(
      ...(await folderEntries({
        folder,
        at: `vocalhost/${relative(REPOSITORY, folder)}`,
        uid: 0,
        gid: 0,
        keeps: (path) =>
          !/^(?:node_modules|tests?|docs)$|\.(?:map|md|d\.[cm]?ts)$/.test(path) &&
          (path !== "src" || !existsSync(join(folder, "dist"))), // what the other was made of
      })),
    );
  for (const name of ["protocol", "audio", "rooms"])
    entries.push({
      ...place(`vocalhost/node_modules/@vocalhost/${name}`, 0o777),
      kind: "symlink",
      target: `../../packages/${name}`,
    });
  const known = new Set(entries.map(({ path }) => path));
  const parents = directoriesOf([...known]).filter((path) => !known.has(path));
  return [...parents.map(directory), ...entries];
}

function inImage(path: string): string {
  return `/vocalhost/${relative(REPOSITORY, path)}`;
}

/** Folders of all packages these depend on, found as Node finds them. */
function closureOf(packages: string[], isLeftOut: (name: string) => boolean): string[] {
  const found = new Set<string>();
  const waiting = [...packages];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    const { dependencies, optionalDependencies } = JSON.parse(
      readFileSync(join(folder, "package.json"), "utf8"),
    ) as Partial<Record<"dependencies" | "optionalDependencies", Record<string, string>>>;
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      const place = isLeftOut(name) ? undefined : findModule(name, folder);
      if (place === undefined || found.has(place)) continue;
      found.add(place);
      waiting.push(place);
    }
  }
  return [...found];
}

function findModule(name: string, from: string): string | undefined {
  for (let folder = from; folder.startsWith(REPOSITORY); folder = dirname(folder)) {
    const candidate = join(folder, "node_modules", name);
    if (existsSync(candidate)) return candidate;
  }
  return undefined;
}

function directoriesOf(paths: string[]): string[] {
  const all = new Set<string>();
  for (const path of paths)
    for (let folder = dirname(path); folder !== "."; folder = dirname(folder)) all.add(folder);
  return [...all];
}

function place(path: string, mode: number) {
  return { path, mode, uid: 0, gid: 0 };
}

function directory(path: string): LayerEntry {
  return { ...place(path, 0o755), kind: "directory" };
}

function text(path: string, content: string): LayerEntry {
  return { ...place(path, 0o644), kind: "file", source: Buffer.from(content) };
}

async function drain(stream: NodeJS.ReadableStream): Promise<void> {
  let said = "";
  stream.on("data", (chunk: Buffer) => (said += chunk.toString()));
  await once(stream, "end");
  if (/"error"/.test(said)) throw new Error(`The engine did not load the image: ${said}`);
}
