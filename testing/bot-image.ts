import {
  createImage,
  imageLabels,
  packLayer,
  streamArchive,
  thisPlatform,
  type Image,
  type LayerEntry,
} from "@vocalhost/images";
import { mkdtempSync, rmSync } from "node:fs";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { packTar } from "modern-tar";
import type Docker from "dockerode";
import { BOT_USER, inImage, packageEntries, programEntries } from "./machine-image.ts";
import { nodeFlags, programOf } from "./programs.ts";

export { BOT_USER } from "./machine-image.ts";

const PACKAGES = ["sdk", "carriers", "protocol", "audio", "rooms"];
// Large, and no test needs them.
const LEFT_OUT = /^(?:sherpa-onnx|ai$|@types\/|@vocalhost\/|vocalhost$)/;
const ENGINE = "vocalhost/engine.ts";
const FOR_ROOMS = /^@livekit\/rtc-ffi-bindings-/;

export interface BotImageOptions {
  /** @default localhost/bot:test */
  name?: string;
  /** Whether its bots can join rooms, for 25 MB more. */
  hasRooms?: boolean;
  /** A file with an engine for the voice filter. */
  voiceEngine?: string;
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
  { hasRooms = false, voiceEngine }: BotImageOptions = {},
): Promise<Image> {
  const isLeftOut = (name: string): boolean => LEFT_OUT.test(name) || (!hasRooms && FOR_ROOMS.test(name));
  const layer = await packLayer({
    entries: [
      ...programEntries(),
      ...(await packageEntries(PACKAGES, isLeftOut)),
      ...(voiceEngine === undefined ? [] : [engineEntry(voiceEngine)]),
    ],
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
      Env: [
        "PATH=/usr/local/bin",
        ...(voiceEngine === undefined ? [] : [`VOCALHOST_VIVA_ENGINE=/${ENGINE}`]),
      ],
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

function engineEntry(source: string): LayerEntry {
  return { path: ENGINE, mode: 0o644, uid: 0, gid: 0, kind: "file", source };
}

async function drain(stream: NodeJS.ReadableStream): Promise<void> {
  let said = "";
  stream.on("data", (chunk: Buffer) => (said += chunk.toString()));
  await once(stream, "end");
  if (/"error"/.test(said)) throw new Error(`The engine did not load the image: ${said}`);
}
