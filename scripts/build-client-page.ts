// Builds the page the runner serves at /client/, unless what is there was made from the same sources.
import { createHash, randomUUID } from "node:crypto";
import { glob, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const repository = fileURLToPath(new URL("../", import.meta.url));
const page = join(repository, "packages/sdk/client-page");
const stamp = ".made-from";
const inputs = [
  "package-lock.json",
  "packages/web/package.json",
  "packages/web/vite.config.ts",
  "packages/web/{client,shared}/**/*.*",
  "packages/{audio,protocol,simulator}/src/**/*.ts",
];

const wanted = await hashInputs();
if ((await readStamp()) !== wanted) await buildPage(wanted);

async function buildPage(hash: string): Promise<void> {
  const startedMs = performance.now();
  const { build } = await import("vite");
  // Made aside and moved into place, so that a runner never serves half a page.
  const aside = `${page}.${randomUUID().slice(0, 8)}`;
  try {
    await build({
      configFile: join(repository, "packages/web/vite.config.ts"),
      logLevel: "error",
      build: { outDir: aside, emptyOutDir: true },
    });
    await writeFile(join(aside, stamp), hash);
    const size = await sizeOf(aside);
    await rm(page, { recursive: true, force: true });
    // Another process may have put the same page there in between.
    await rename(aside, page).catch(async (error: unknown) => {
      if ((await readStamp()) !== hash) throw error;
    });
    const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
    console.log(`Client page built in ${seconds} s (${size})`);
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
}

function readStamp(): Promise<string | undefined> {
  return readFile(join(page, stamp), "utf8").catch(() => undefined);
}

async function hashInputs(): Promise<string> {
  const hash = createHash("sha256");
  for (const name of await listInputs()) {
    hash.update(name).update(await readFile(join(repository, name)));
  }
  return hash.digest("hex");
}

async function listInputs(): Promise<string[]> {
  const names: string[] = [];
  for await (const name of glob(inputs, { cwd: repository })) {
    if (!name.endsWith(".test.ts")) names.push(name);
  }
  return names.toSorted();
}

/** What a browser downloads: for the page, and with every transport. */
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
