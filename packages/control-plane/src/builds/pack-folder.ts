import { packTar, type TarEntry } from "modern-tar";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";

/** Never uploaded: packages (installed again), history and secrets. */
const LEFT_OUT = /^(?:node_modules|\.git|\.env(?:\..*)?)$/;

/** Packs a bot's folder for a deployment; the same files give the same bytes. */
export async function packFolder(folder: string): Promise<Buffer> {
  const entries: TarEntry[] = [];
  for (const name of (await filesIn(folder)).sort()) {
    const path = join(folder, name);
    const body = await readFile(path);
    const isProgram = ((await stat(path)).mode & 0o111) !== 0;
    const mode = isProgram ? 0o755 : 0o644;
    const header = {
      name,
      size: body.length,
      mode,
      mtime: new Date(0),
      uid: 0,
      gid: 0,
      uname: "",
      gname: "",
    };
    entries.push({ header, body });
  }
  return promisify(gzip)(await packTar(entries));
}

async function filesIn(folder: string, below = ""): Promise<string[]> {
  const found: string[] = [];
  for (const entry of await readdir(join(folder, below), { withFileTypes: true })) {
    if (LEFT_OUT.test(entry.name)) continue;
    const name = below === "" ? entry.name : `${below}/${entry.name}`;
    if (entry.isDirectory()) found.push(...(await filesIn(folder, name)));
    else if (entry.isFile()) found.push(name);
  }
  return found;
}
