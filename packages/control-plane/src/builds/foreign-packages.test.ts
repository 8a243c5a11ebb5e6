import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdir, mkdtempDisposable, readdir, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { packTar } from "modern-tar";
import { listenOnLoopback } from "../../../../testing/loopback-server.ts";
import { size } from "../../../../testing/sizes.ts";
import { readManifest } from "./bot-manifest.ts";
import { BuildProblem } from "./build-problem.ts";
import { installPackages } from "./install-packages.ts";

// `HOST` stands for the folder beside the upload that holds packages of the machine.
type Files = Record<string, unknown>;
const from = (dependencies: Files, more: Files = {}): Files => ({ dependencies, ...more });
const named = (name: string, more: Files = {}): Files => ({ name, version: "1.0.0", ...more });
const lockOf = (packages: Files, version = 3): Files => ({
  lockfileVersion: version,
  requires: true,
  packages,
});
const inner = from({ in: "file:./in" });
const viaInner = (more: Files): Files => ({ "package.json": inner, "in/package.json": named("in", more) });
const viaLock = (p: Files, more: Files = {}): Files => ({
  "package.json": from({ in: "file:./in" }),
  "in/package.json": named("in", from({ p: "1.0.0" })),
  "package-lock.json": lockOf({
    "": from({ in: "file:./in" }),
    in: named("in", { dependencies: { p: "1.0.0" } }),
    "node_modules/in": { resolved: "in", link: true },
    "node_modules/p": { version: "1.0.0", ...p },
  }),
  ...more,
});
const viaTarball = (packed: Files): Files => ({
  "package.json": from({ in: "file:./in.tgz" }),
  "in.tgz": packed,
});

const ESCAPES: Record<string, Files> = {
  "a path that begins inside": { "package.json": from({ p: "./../host/pkg.tgz" }) },
  "a manifest within": viaInner(from({ p: "file:HOST/pkg.tgz" })),
  "dependencies of a lock entry": {
    "package.json": from({ in: "file:./in.tgz" }),
    "in.tgz": { "package.json": named("in") },
    "package-lock.json": lockOf({
      "": from({ in: "file:in.tgz" }),
      "node_modules/in": { version: "1.0.0", resolved: "file:in.tgz", ...from({ p: "file:HOST/pkg.tgz" }) },
    }),
  },
  "a manifest in an archive within": viaTarball({
    "package.json": named("in", from({ p: "file:HOST/pkg.tgz" })),
  }),
  "the source of a lock entry": viaLock({ resolved: "file:HOST/pkg.tgz" }),
  overrides: {
    "package.json": { ...inner, overrides: { p: "file:HOST/pkg.tgz" } },
    "in/package.json": named("in", from({ p: "1.0.0" })),
  },
  "a lock of yarn": {
    "package.json": inner,
    "in/package.json": named("in", from({ p: "1.0.0" })),
    "yarn.lock": `# yarn lockfile v1\n\np@1.0.0:\n  version "1.0.0"\n  resolved "file:HOST/pkg.tgz"\n`,
  },
};

const MORE_ESCAPES: Record<string, Files> = {
  "a manifest of a workspace": {
    "package.json": { ...from({ in: "1.0.0" }), workspaces: ["in"] },
    "in/package.json": named("in", from({ p: "file:HOST/pkg.tgz" })),
  },
  "a shrinkwrap in an archive within": viaTarball({
    "package.json": named("in", from({ p: "1.0.0" })),
    "npm-shrinkwrap.json": {
      ...named("in"),
      ...lockOf({
        "": named("in", from({ p: "1.0.0" })),
        "node_modules/p": { version: "1.0.0", resolved: "file:HOST/pkg.tgz" },
      }),
    },
  }),
  "Git in a manifest within": viaInner(from({ p: "git+ssh://git@127.0.0.1:9/p.git" })),
  "an address in a manifest within": viaInner(from({ p: "http://127.0.0.1:9/p.tgz" })),
  "an absolute path": { "package.json": from({ p: "HOST/pkg.tgz" }) },
  "a file address": { "package.json": from({ p: "file://HOST/pkg.tgz" }) },
  "a file address in capitals": { "package.json": from({ p: "FILE:HOST/pkg.tgz" }) },
  "a file address with a host": { "package.json": from({ p: "file://localhostHOST/pkg.tgz" }) },
  "a path out and in again": { "package.json": from({ p: "file:in/../../host/pkg.tgz" }), "in/x": {} },
  "doubled slashes": { "package.json": from({ p: ".//.././/host//pkg.tgz" }) },
  "dots in percent signs": { "package.json": from({ p: "file:%2e%2e/host/pkg.tgz" }) },
  "dots in percent signs, bare": { "package.json": from({ p: "./%2e%2e/host/pkg.tgz" }) },
  "a slash in percent signs": { "package.json": from({ p: "file:..%2fhost/pkg.tgz" }) },
  "a path without a sign": { "package.json": from({ p: "in/../../host/pkg.tgz" }) },
  backslashes: { "package.json": from({ p: "file:..\\host\\pkg.tgz" }) },
  "a space before it": { "package.json": from({ p: " file:HOST/pkg.tgz" }) },
  "a folder of the machine": { "package.json": from({ p: "./../host/dir" }) },
  "a folder named by a manifest within": viaInner(from({ p: "file:../../host/dir" })),
  "a link": { "package.json": from({ p: "link:HOST/dir" }) },
  "a link named within": viaInner(from({ p: "link:HOST/dir" })),
  "a portal named within": viaInner(from({ p: "portal:HOST/dir" })),
  "an alias": { "package.json": from({ p: "npm:p@file:HOST/pkg.tgz" }) },
  "an alias named within": viaInner(from({ p: "npm:HOST/pkg.tgz" })),
  "an optional dependency": { "package.json": { optionalDependencies: { p: "./../host/pkg.tgz" } } },
  "an optional dependency within": viaInner({ optionalDependencies: { p: "file:HOST/pkg.tgz" } }),
  "a peer dependency within": viaInner({ peerDependencies: { p: "file:HOST/pkg.tgz" } }),
  "a bundled dependency within": viaInner({ ...from({ p: "file:HOST/pkg.tgz" }), bundleDependencies: ["p"] }),
  "a dependency for work on a workspace": {
    "package.json": { ...from({ in: "1.0.0" }), workspaces: ["in"] },
    "in/package.json": named("in", { devDependencies: { p: "file:HOST/pkg.tgz" } }),
  },
  "a workspace outside": { "package.json": { ...from({ p: "1.0.0" }), workspaces: ["../host/dir"] } },
  "nested overrides": {
    "package.json": { ...inner, overrides: { in: { p: "file:HOST/pkg.tgz" } } },
    "in/package.json": named("in", from({ p: "1.0.0" })),
  },
  "overrides by reference": {
    "package.json": { ...from({ in: "file:./in", p: "./../host/pkg.tgz" }), overrides: { p: "$p" } },
    "in/package.json": named("in", from({ p: "1.0.0" })),
  },
  "two manifests down": {
    "package.json": inner,
    "in/package.json": named("in", from({ deep: "file:./deep" })),
    "in/deep/package.json": named("deep", from({ p: "file:HOST/pkg.tgz" })),
  },
  "an archive named by a manifest within": {
    ...viaInner(from({ deep: "file:./deep.tgz" })),
    "in/deep.tgz": { "package.json": named("deep", from({ p: "file:HOST/pkg.tgz" })) },
  },
  "the source of a lock entry, relative": viaLock({ resolved: "file:../host/pkg.tgz" }),
  "the source of a lock entry in percent signs": viaLock({ resolved: "file:%2e%2e/host/pkg.tgz" }),
  "a link of a lock": viaLock({ resolved: "../host/dir", link: true }),
  "a place of a lock outside": viaLock(
    {},
    {
      "package-lock.json": lockOf({
        "": inner,
        "../host/dir": named("p"),
        "node_modules/in": { resolved: "../host/dir", link: true },
      }),
    },
  ),
  "the version of a lock entry": viaLock({ version: "file:HOST/pkg.tgz" }),
  "optional dependencies of a lock entry": viaLock({
    resolved: "file:./in",
    optionalDependencies: { q: "file:HOST/pkg.tgz" },
  }),
  "a lock of the first kind": {
    "package.json": inner,
    "in/package.json": named("in", from({ p: "1.0.0" })),
    "package-lock.json": {
      lockfileVersion: 1,
      requires: true,
      dependencies: {
        in: { version: "file:in", requires: { p: "1.0.0" } },
        p: { version: "file:HOST/pkg.tgz" },
      },
    },
  },
  "a lock of the first kind, what it requires": {
    "package.json": inner,
    "in/package.json": named("in"),
    "package-lock.json": {
      lockfileVersion: 1,
      requires: true,
      dependencies: { in: { version: "file:in", requires: { p: "file:HOST/pkg.tgz" } } },
    },
  },
  "a shrinkwrap": viaLock(
    {},
    {
      "package-lock.json": {},
      "npm-shrinkwrap.json": lockOf({
        "": inner,
        in: named("in", from({ p: "file:HOST/pkg.tgz" })),
        "node_modules/in": { resolved: "in", link: true },
      }),
    },
  ),
  "what npm is said to have installed": {
    "package.json": inner,
    "in/package.json": named("in", from({ p: "1.0.0" })),
    "node_modules/.package-lock.json": lockOf({
      in: named("in", from({ p: "1.0.0" })),
      "node_modules/in": { resolved: "in", link: true },
      "node_modules/p": { version: "1.0.0", resolved: "file:HOST/pkg.tgz" },
    }),
  },
  "settings in a folder within": {
    ...viaInner(from({ p: "file:HOST/pkg.tgz" })),
    "in/.npmrc": "allow-file=all\n",
    ".npmrc": "package-lock=false\nignore-scripts=false\n",
  },
  "settings in the manifest": {
    "package.json": { ...inner, config: { "package-lock": false }, publishConfig: { "package-lock": false } },
    "in/package.json": named("in", from({ p: "file:HOST/pkg.tgz" })),
  },
};

for (const [name, upload] of Object.entries({ ...ESCAPES, ...size({}, MORE_ESCAPES) }))
  test(`no package comes from outside of the bot's folder: ${name}`, async () => {
    await using root = await layOut(upload);
    const isRefused = await install(root.path).then(
      () => false,
      (error: unknown) => assert.ok(error instanceof BuildProblem) ?? true,
    );
    if (isRefused) return;
    const files = await readdir(join(root.path, "bot"), { recursive: true }); // npm did not read that folder
    assert.deepEqual(
      files.filter((file) => file.endsWith("marker")),
      [],
    );
  });

test("packages within the bot's folder may name each other", async () => {
  await using root = await layOut({
    "package.json": {
      ...from({ in: "file:./in", lib: "1.0.0", packed: "./packed.tgz" }),
      workspaces: ["lib"],
    },
    "in/package.json": named("in", from({ beside: "file:../beside" })),
    "beside/package.json": named("beside"),
    "lib/package.json": named("lib", from({ in: "file:../in" })),
    "packed.tgz": { "package.json": named("packed", from({ below: "file:./below.tgz" })) },
    "below.tgz": { "package.json": named("below") },
  });
  await install(root.path);
  for (const name of ["in", "lib", "packed", "below"])
    assert.ok(existsSync(join(root.path, "bot/node_modules", name, "package.json")), name);
});

test("an address that a manifest within names is asked only if the operator allows it", async () => {
  let asked = 0;
  const server = createServer((_request, response) => {
    asked += 1;
    response.writeHead(404).end();
  });
  await using listening = await listenOnLoopback(server);
  await using root = await layOut(viaInner(from({ p: `http://${listening.host}/p.tgz` })));
  await assert.rejects(install(root.path), BuildProblem);
  assert.equal(asked, 0);
  await assert.rejects(install(root.path, true), BuildProblem);
  assert.ok(asked > 0);
});

async function layOut(files: Files) {
  const root = await mkdtempDisposable(join(tmpdir(), "foreign-"));
  const host = { "package.json": named("p"), marker: "of the machine" };
  const packages = { "pkg.tgz": host, "dir/package.json": named("p"), "dir/marker": "of the machine" };
  await write(join(root.path, "host"), packages, "");
  await write(join(root.path, "bot"), files, join(root.path, "host"));
  return root;
}

/** Writes files; an object becomes JSON, or an archive if the name says so. */
async function write(folder: string, files: Files, host: string): Promise<void> {
  const text = (content: unknown): string =>
    (typeof content === "string" ? content : JSON.stringify(content)).replaceAll("HOST", host);
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder, name);
    await mkdir(dirname(path), { recursive: true });
    if (!name.endsWith(".tgz")) await writeFile(path, text(content));
    else {
      const entries = Object.entries(content as Files).map(([file, body]) => {
        const bytes = Buffer.from(text(body));
        return { header: { name: `package/${file}`, size: bytes.length, mode: 0o644 }, body: bytes };
      });
      await writeFile(path, await promisify(gzip)(await packTar(entries)));
    }
  }
}

async function install(root: string, allowsForeignPackages = false): Promise<void> {
  const folder = join(root, "bot");
  const { manifest, text: manifestText } = await readManifest(folder);
  const say = (): void => undefined;
  await installPackages({
    ...{ folder, manifest, manifestText, allowsForeignPackages, say },
    sdk: "of the base",
    sdkFolder: fileURLToPath(new URL("../../../sdk", import.meta.url)),
  });
}
