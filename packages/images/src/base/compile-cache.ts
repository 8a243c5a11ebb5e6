import { link, copyFile, mkdir, rm, symlink, writeFile, chmod } from "node:fs/promises";
import { dirname, join } from "node:path";
import { folderEntries } from "../layers/folder-entries.ts";
import { inOrder, type LayerEntry } from "../layers/layer-entry.ts";
import { thisPlatform, type Platform } from "../platform.ts";
import { basePlaces, inLayer } from "./base-places.ts";
import type { BuildFolder } from "../build-folder.ts";
import { BuildProblem } from "../run-program.ts";

export type CompileCache = { made: true; entries: LayerEntry[] } | { made: false; reason: string };

const MAKE_MS = 120_000;

/** V8 then writes the same bytes each time: no chance in its hashes, and no collection that drops compiled code. */
const REPEATABLE = [
  "--random-seed=1",
  "--min-semi-space-size=256",
  "--max-semi-space-size=256",
  "--single-threaded-gc",
];

/**
 * Compiled code of the product's packages, from running Node inside of the image: Node files it by path. Bots start
 * without it too, but later.
 */
export async function makeCompileCache(
  buildFolder: BuildFolder,
  platform: Platform,
  entries: readonly LayerEntry[],
): Promise<CompileCache> {
  if (platform.architecture !== thisPlatform().architecture || process.platform !== "linux")
    return { made: false, reason: "this machine cannot run programs of that platform" };
  const root = join(buildFolder.folder, `root-${platform.architecture}`);
  await rm(root, { recursive: true, force: true });
  await unfold(entries, root);
  const maker = [basePlaces.node, ...REPEATABLE, basePlaces.compileCacheMaker];
  const isRoot = process.getuid?.() === 0;
  const inside = isRoot ? ["chroot", root] : ["unshare", "--user", "--map-root-user", `--root=${root}`];
  const [program = "", ...args] = [...inside, ...maker];
  try {
    await buildFolder.run(program, args, {
      purpose: "to run Node inside of the image",
      cwd: "/",
      timeoutMs: MAKE_MS,
      environment: { PATH: "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", HOME: "/root" },
    });
  } catch (error) {
    if (!(error instanceof BuildProblem)) throw error;
    return { made: false, reason: `${error.message} (${error.output.split("\n").at(-1) ?? ""})` };
  }
  const at = inLayer(basePlaces.compileCache);
  const made = await folderEntries({ folder: join(root, at), at, uid: 0, gid: 0 });
  // Read before the folder is gone; it is small.
  return { made: true, entries: made };
}

/** Files are linked where that is possible: most of an image is one large program. */
async function unfold(entries: readonly LayerEntry[], root: string): Promise<void> {
  await mkdir(root, { recursive: true });
  for (const entry of inOrder(entries)) {
    const path = join(root, entry.path);
    await mkdir(dirname(path), { recursive: true });
    switch (entry.kind) {
      case "directory":
        await mkdir(path, { recursive: true });
        break;
      case "symlink":
        await symlink(entry.target, path);
        break;
      case "file":
        if (typeof entry.source !== "string") {
          await writeFile(path, entry.source);
          await chmod(path, entry.mode);
        } else await link(entry.source, path).catch(() => copyFile(entry.source as string, path));
        break;
      default:
        entry satisfies never;
    }
  }
}
