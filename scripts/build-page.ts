// Builds a web page of packages/web into the package that serves it, unless what is there was made from the same sources.
import { createHash, randomUUID } from "node:crypto";
import { glob, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

export interface PageOptions {
  /** Begins the line that says it was built. */
  name: string;
  /** From the repository's root, as are the following. */
  config: string;
  output: string;
  inputs: string[];
}

const repository = fileURLToPath(new URL("../", import.meta.url));
const stamp = ".made-from";

export async function buildPage(options: PageOptions): Promise<void> {
  const page = join(repository, options.output);
  const hash = await hashInputs(["package-lock.json", "packages/web/package.json", ...options.inputs]);
  if ((await readStamp(page)) === hash) return;
  const startedMs = performance.now();
  const { build } = await import("vite");
  // Made aside and moved into place, so that no process serves half a page.
  const aside = `${page}.${randomUUID().slice(0, 8)}`;
  try {
    await build({
      configFile: join(repository, options.config),
      logLevel: "error",
      build: { outDir: aside, emptyOutDir: true },
    });
    await writeFile(join(aside, stamp), hash);
    const size = await sizeOf(aside);
    await rm(page, { recursive: true, force: true });
    // Another process may have put the same page there in between.
    await rename(aside, page).catch(async (error: unknown) => {
      if ((await readStamp(page)) !== hash) throw error;
    });
    const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
    console.log(`${options.name} built in ${seconds} s (${size})`);
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
}

function readStamp(page: string): Promise<string | undefined> {
  return readFile(join(page, stamp), "utf8").catch(() => undefined);
}

async function hashInputs(inputs: string[]): Promise<string> {
  const hash = createHash("sha256");
  for (const name of await listInputs(inputs)) {
    hash.update(name).update(await readFile(join(repository, name)));
  }
  return hash.digest("hex");
}

async function listInputs(inputs: string[]): Promise<string[]> {
  const names: string[] = [];
  for await (const name of glob(inputs, { cwd: repository })) {
    if (!name.endsWith(".test.ts")) names.push(name);
  }
  return names.toSorted();
}

/** Sums what a browser downloads: for the page, and with all later chunks. */
async function sizeOf(folder: string): Promise<string> {
  const html = await readFile(join(folder, "index.html"), "utf8");
  let first = 0;
  let all = 0;
  for await (const name of glob("assets/*.js", { cwd: folder })) {
    const bytes = gzipSync(await readFile(join(folder, name))).length;
    all += bytes;
    if (html.includes(name)) first += bytes;
  }
  const kb = (bytes: number) => `${Math.round(bytes / 1000)} kB`;
  return `${kb(first)} of JavaScript at first, ${kb(all)} in all, gzipped`;
}
