import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openImageFolder, type ImageFolder } from "../archives/image-folder.ts";
import { createImage, type Image } from "../image.ts";
import { imageLabels } from "../labels.ts";
import type { LayerEntry } from "../layers/layer-entry.ts";
import { thisPlatform, type Platform } from "../platform.ts";

export interface TemporaryFolder extends AsyncDisposable {
  path: string;
}

export async function temporaryFolder(): Promise<TemporaryFolder> {
  const path = await mkdtemp(join(tmpdir(), "images-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** Two layers, one of them on top of the other. */
export async function makeSmallImage(
  folder: ImageFolder,
  { platform = thisPlatform(), text = "hello" }: { platform?: Platform; text?: string } = {},
): Promise<Image> {
  const below = await folder.pack({
    entries: [directory("srv"), file("srv/below", "below")],
    createdBy: "below",
  });
  const base = createImage({
    platform,
    layers: [below],
    defaults: {
      User: "10001:10001",
      Env: ["PATH=/bin", "NAME=base"],
      Labels: { [imageLabels.baseVersion]: "0.2.0", [imageLabels.filterVersion]: "0.1.0" },
    },
  });
  const above = await folder.pack({ entries: [file("srv/above", text)], createdBy: "above" });
  return createImage({
    platform,
    base,
    layers: [above],
    defaults: { Env: ["NAME=own"], Cmd: ["/srv/above"], Labels: { team: "voice" } },
  });
}

export async function openTemporaryImages(): Promise<ImageFolder & AsyncDisposable> {
  const temporary = await temporaryFolder();
  const path = join(temporary.path, "images");
  await mkdir(path);
  const folder = await openImageFolder(path);
  return { ...folder, [Symbol.asyncDispose]: () => temporary[Symbol.asyncDispose]() };
}

export function file(path: string, content: string, mode = 0o644): LayerEntry {
  return { kind: "file", path, source: Buffer.from(content), mode, uid: 0, gid: 0 };
}

export function directory(path: string): LayerEntry {
  return { kind: "directory", path, mode: 0o755, uid: 0, gid: 0 };
}
