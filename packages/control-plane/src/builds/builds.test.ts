import { isAppError } from "@vocalhost/protocol";
import assert from "node:assert/strict";
import { createHash, randomBytes, randomUUID } from "node:crypto";
import { existsSync, lstatSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { Readable } from "node:stream";
import { test } from "node:test";
import { gunzipSync, gzipSync } from "node:zlib";
import { eachStore } from "@vocalhost/store/testing/each-store";
import { requireRegistry } from "./testing/require-registry.ts";
import { until } from "../../../../testing/wait.ts";
import { buildFolder } from "./build-folders.ts";
import { startBuilds } from "./testing/start-builds.ts";

const BOT = `import type { RunnerArguments } from "vocalhost";
export async function bot(args: RunnerArguments): Promise<void> { void args; }
`;

test("a bot's folder becomes one that instances can run in, once", async () => {
  await requireRegistry();
  await using service = await startBuilds();
  const files = {
    "bot.ts": BOT,
    "package.json": JSON.stringify({
      type: "module",
      dependencies: { "is-number": "7.0.0", vocalhost: "^0.1.0" },
    }),
    Dockerfile: "FROM vocalhost/base:0.3.1\nCOPY . .\n",
  };
  const first = await service.deploy(files);
  assert.equal(first.cached, false);
  assert.match(first.contextHash, /^[0-9a-f]{16}$/);
  const build = await service.final(first.build);
  assert.equal(build.errorMessage, null);
  assert.equal(build.status, "success");
  assert.equal(build.imageUri, `vocalhost/builds:${first.contextHash}-${build.id.slice(0, 8)}`);
  assert.ok(build.startedAt && build.completedAt && (build.imageSizeBytes ?? 0) > 1_000);
  assert.deepEqual(await service.facts(build), {
    botFile: "bot.ts",
    baseVersion: "0.3.1",
    filterPackages: [],
  });

  const folder = buildFolder(service.data, build.id);
  const require = createRequire(join(folder, "bot.ts"));
  assert.equal((require("is-number") as (value: unknown) => boolean)(7), true);
  assert.ok(require.resolve("vocalhost/instance"));
  assert.ok(lstatSync(join(folder, "node_modules/vocalhost")).isSymbolicLink());
  assert.equal(readFileSync(join(folder, "package.json"), "utf8"), files["package.json"]);
  assert.ok(!existsSync(join(folder, "package-lock.json")));

  const { logs, nextToken } = await service.logs(build, 500);
  assert.ok(logs.some((line) => line.includes("Installing 1 packages")));
  assert.equal(logs.at(-1), "Build succeeded");
  assert.equal(nextToken, undefined);
  const page = await service.logs(build, 2);
  assert.deepEqual([page.logs, page.nextToken], [logs.slice(0, 2), "2"]);
  assert.deepEqual((await service.logs(build, 2, page.nextToken)).logs, logs.slice(2, 4));

  const again = await service.deploy(files);
  assert.deepEqual([again.cached, again.build.id], [true, build.id]);
  assert.equal((await service.deploy(files, { dockerfilePath: "other/Dockerfile" })).cached, false);
});

test("the same files are built once, also while they are being built and however they were compressed", async () => {
  await using service = await startBuilds({ isRunning: false });
  const archive = await service.pack({ "bot.ts": BOT });
  const first = await service.upload(archive);
  assert.equal(first.contextHash, createHash("md5").update(archive).digest("hex").slice(0, 16));
  const otherwise = gzipSync(gunzipSync(archive), { level: 0 });
  const second = await service.upload(otherwise);
  assert.deepEqual([second.cached, second.build.id], [true, first.build.id]);
  assert.notEqual(second.contextHash, first.contextHash);
  service.run();
  assert.equal((await service.final(first.build)).status, "success");
  await service.store.db.updateTable("builds").set({ updatedAt: 1 }).execute();
  assert.equal((await service.upload(otherwise)).build.id, first.build.id);
  const { updatedAt } = await service.store.db.selectFrom("builds").selectAll().executeTakeFirstOrThrow();
  assert.ok(updatedAt > 1, "it must not be cleared away before a deployment names it");
  const page = { limit: 20, offset: 0 };
  const contentHash = createHash("md5").update(gunzipSync(archive)).digest("hex").slice(0, 16);
  for (const contextHash of [first.contextHash, contentHash])
    assert.equal((await service.builds.list(service.organization, { ...page, contextHash })).total, 1);
});

test("builds that cannot succeed say what to fix", async () => {
  await requireRegistry();
  await using service = await startBuilds();
  const cases: [Record<string, string>, RegExp][] = [
    [{ "main.ts": BOT }, /No bot found/],
    [{ "bot.ts": "export async function bot( {" }, /bot\.ts/],
    [{ "bot.mjs": "export const = 1" }, /bot\.mjs, line 1: SyntaxError/],
    [{ "bot.ts": "enum A { B }\nexport const bot = A;" }, /bot\.ts.*enum/s],
    [{ "bot.ts": BOT, "package.json": "{" }, /package\.json is not/],
    [
      { "bot.ts": BOT, "package.json": `{ "dependencies": { "vocalhost": "^7.0.0" } }` },
      /wants vocalhost \^7\.0\.0/,
    ],
    [
      { "bot.ts": BOT, "package.json": `{ "dependencies": { "x": "file:../../etc" } }` },
      /outside of the bot's folder/,
    ],
    [
      { "bot.ts": BOT, "package.json": `{ "dependencies": { "is-number": "99999.0.0" } }` },
      /npm install failed/,
    ],
  ];
  for (const [files, text] of cases) {
    const build = await service.final((await service.deploy(files)).build);
    assert.equal(build.status, "failed");
    assert.match(build.errorMessage ?? "", text);
    assert.equal(build.imageUri, null);
    assert.ok(!existsSync(buildFolder(service.data, build.id)));
    assert.equal((await service.deploy(files)).cached, false);
  }
});

eachStore((open) => {
  test("what a build quotes of an upload is written down whatever it is", async () => {
    await using service = await startBuilds({ store: await open() });
    const wanted = "file:../\0\u001b[2J".repeat(20_000);
    const manifest = JSON.stringify({ dependencies: { "\0odd": wanted } });
    const build = await service.final(
      (await service.deploy({ "bot.ts": BOT, "package.json": manifest })).build,
    );
    assert.equal(build.status, "failed");
    assert.match(
      build.errorMessage ?? "",
      /^The dependency ␀odd is outside .*: file:\.\.\/␀␛\[2J.* \(cut, \d+ more\)$/,
    );
    assert.match((await service.logs(build, 500)).logs.at(-1) ?? "", /^Build failed: The dependency ␀odd/);
  });
});

test("a build runs nothing of the bot or its packages", async () => {
  await using service = await startBuilds();
  const trap = join(service.data, "trap");
  const spring = `require("node:fs").writeFileSync(${JSON.stringify(trap)}, "sprung");`;
  const scripts = {
    preinstall: `node -e '${spring}'`,
    postinstall: `node -e '${spring}'`,
    prepare: `node -e '${spring}'`,
  };
  const build = await service.final(
    (
      await service.deploy({
        "bot.js": `import { writeFileSync } from "node:fs"; writeFileSync(${JSON.stringify(trap)}, ""); export async function bot() {}`,
        "package.json": JSON.stringify({ type: "module", scripts, dependencies: { local: "file:./local" } }),
        "local/package.json": JSON.stringify({ name: "local", version: "1.0.0", scripts }),
      })
    ).build,
  );
  assert.equal(build.status, "success", build.errorMessage ?? "");
  assert.ok(!existsSync(trap));
});

test("a bot's own npm settings and packages from elsewhere run nothing", async () => {
  await using service = await startBuilds();
  const [trap, program] = [join(service.data, "trap"), join(service.data, "trap.sh")];
  writeFileSync(program, `#!/bin/sh\ntouch '${trap}'\nexit 1\n`, { mode: 0o755 });
  const git = "git+ssh://git@127.0.0.1/never/there.git";
  const settings = { "bot.ts": BOT, ".npmrc": `git=${program}\nscript-shell=${program}\n` };
  const local = JSON.stringify({ name: "local", version: "1.0.0", dependencies: { evil: git } });
  const of = (manifest: object): string => JSON.stringify({ type: "module", ...manifest });
  const cases: [Record<string, string>, RegExp][] = [
    [{ "package.json": of({ dependencies: { evil: git } }) }, /evil comes from git\+ssh/],
    [{ "package.json": of({ dependencies: { evil: "somebody/evil" } }) }, /evil comes from somebody/],
    [{ "package.json": of({ dependencies: { evil: "http://127.0.0.1/e.tgz" } }) }, /evil comes from http/],
    [{ "package.json": of({ dependencies: {}, overrides: { a: { evil: git } } }) }, /evil comes from git/],
    [
      {
        "package.json": of({ dependencies: { evil: "1.0.0" } }),
        "package-lock.json": JSON.stringify({ packages: { "node_modules/evil": { resolved: git } } }),
      },
      /evil comes from git/,
    ],
    [
      { "package.json": of({ dependencies: { local: "file:./local" } }), "local/package.json": local },
      /npm install failed/,
    ],
  ];
  for (const [files, text] of cases) {
    const build = await service.final((await service.deploy({ ...settings, ...files })).build);
    assert.equal(build.status, "failed");
    assert.match(build.errorMessage ?? "", text);
    assert.ok(!existsSync(trap), `something was run: ${String(text)}`);
  }
});

test("a lock file leads to nothing outside of the bot's folder, and workspaces stay", async () => {
  await using service = await startBuilds();
  const manifest = (more: object): string => JSON.stringify({ name: "bot", type: "module", ...more });
  const lock = (packages: object): string => JSON.stringify({ name: "bot", lockfileVersion: 3, packages });
  for (const [resolved, at] of [
    ["../../..", "x"],
    ["../nothing-yet", "x"],
    ["../../..", "@scope/x"],
  ] as const) {
    const dependencies = { [at]: "1.0.0" };
    const files = {
      "bot.ts": BOT,
      "package.json": manifest({ dependencies }),
      "package-lock.json": lock({
        "": { name: "bot", dependencies },
        [`node_modules/${at}`]: { resolved, link: true },
        [resolved]: { name: at, version: "1.0.0" },
      }),
    };
    const build = await service.final((await service.deploy(files)).build);
    assert.equal(build.status, "failed", resolved);
    const text = `The build holds a link that leaves its folder: node_modules/${at}.`;
    assert.ok(build.errorMessage?.startsWith(text), build.errorMessage ?? "");
    assert.ok(!existsSync(buildFolder(service.data, build.id)));
  }
  const whole = {
    "bot.ts": BOT,
    "package.json": manifest({ workspaces: ["packages/*"], dependencies: { inner: "1.0.0" } }),
    "packages/inner/package.json": JSON.stringify({ name: "inner", version: "1.0.0", main: "main.js" }),
    "packages/inner/main.js": "exports.inner = 1;",
  };
  const build = await service.final((await service.deploy(whole)).build);
  assert.equal(build.status, "success", build.errorMessage ?? "");
  const link = join(buildFolder(service.data, build.id), "node_modules/inner");
  assert.ok(lstatSync(link).isSymbolicLink());
  assert.match(readFileSync(join(link, "main.js"), "utf8"), /inner = 1/);
});

test("the voice filter that comes with the command line is not taken for the bot's", async () => {
  const lock = {
    packages: {
      "": {},
      "node_modules/@vocalhost/cli": { dev: true },
      "node_modules/@vocalhost/control-plane": { dev: true },
      "node_modules/@vocalhost/viva": { dev: true },
    },
  };
  await using service = await startBuilds();
  const { build } = await service.deploy({
    "bot.ts": BOT,
    "package.json": JSON.stringify({ devDependencies: { "@vocalhost/cli": "^0.1.0" } }),
    "package-lock.json": JSON.stringify(lock),
  });
  assert.equal((await service.final(build)).errorMessage, null);
});

test("voice filter packages are refused wherever they are named", async () => {
  await using service = await startBuilds();
  const build = await service.final(
    (
      await service.deploy({
        "src/bot.ts": BOT,
        "package.json": JSON.stringify({
          devDependencies: { "@vocalhost/viva": "1", "vivacious-colors": "1" },
        }),
        "package-lock.json": JSON.stringify({
          packages: { "": {}, "node_modules/a/node_modules/vocalhost-viva": {} },
        }),
        "yarn.lock": `"some_viva@^1.0.0":\n  version "1.0.0"\n`,
      })
    ).build,
  );
  assert.equal(build.status, "failed");
  assert.match(
    build.errorMessage ?? "",
    /brings the voice filter\. Remove @vocalhost\/viva, some_viva, vocalhost-viva from the bot's dependency files/,
  );
});

test("an upload takes one archive, of whoever has its fields, while it is open", async () => {
  await using service = await startBuilds();
  const { uploadId, uploadFields } = await service.builds.createUpload(service.organization, {
    region: undefined,
    actor: "key:1",
  });
  const archive = await service.pack({ "bot.ts": BOT });
  const send = (fields: Record<string, string>, bytes: Buffer = archive, id: string = uploadId) =>
    service.builds.receiveUpload({ uploadId: id, fields, file: Readable.from([bytes]) });
  for (const fields of [{}, { ...uploadFields, Policy: "x" }]) await refused(send(fields), "ACCESS_DENIED");
  await refused(send(uploadFields, archive, randomUUID()), "ACCESS_DENIED");
  await refused(send(uploadFields, Buffer.from("not gzip at all")), "GENERIC_BAD_REQUEST");
  await refused(send(uploadFields, archive.subarray(0, -10)), "GENERIC_BAD_REQUEST");
  const input = { uploadId, dockerfilePath: "Dockerfile", actor: "key:1" };
  await refused(service.builds.create(service.organization, input), "GENERIC_BAD_REQUEST");
  await send(uploadFields);
  await refused(send(uploadFields), "GENERIC_BAD_REQUEST");
  await refused(service.builds.create(service.stranger, input), "GENERIC_BAD_REQUEST");
  for (const dockerfilePath of ["../Dockerfile", "/etc/passwd", "a\\b"])
    await refused(
      service.builds.create(service.organization, { ...input, dockerfilePath }),
      "GENERIC_BAD_REQUEST",
    );
  await refused(
    service.builds.create(service.organization, { ...input, region: "mars" }),
    "GENERIC_BAD_REQUEST",
  );
  const { build } = await service.builds.create(service.organization, input);
  assert.deepEqual([build.status, build.region, build.contextSizeBytes], ["pending", "here", archive.length]);

  await refused(service.builds.read(service.stranger, build.id), "NOT_FOUND");
  const query = { buildId: build.id, limit: 1, nextToken: undefined };
  await refused(service.builds.readLogs(service.stranger, query), "NOT_FOUND");
  const page = { limit: 10, offset: 0 };
  assert.deepEqual(await service.builds.list(service.stranger, page), { builds: [], total: 0 });
  assert.equal((await service.builds.list(service.organization, { ...page, status: "pending" })).total, 1);
  assert.equal((await service.builds.list(service.organization, { ...page, contextHash: "0" })).total, 0);

  await service.store.db.updateTable("uploads").set({ expiresAt: 1, receivedAt: null }).execute();
  await refused(send(uploadFields), "ACCESS_DENIED");
  const audit = await service.store.db.selectFrom("audit").select(["action", "actor"]).execute();
  assert.deepEqual(
    audit.map(({ action }) => action),
    ["upload-created", "build-created"],
  );
});

test("a build that takes too long is ended with everything it started", async () => {
  await using service = await startBuilds({ buildTimeoutMs: 1 });
  const build = await service.final((await service.deploy({ "bot.ts": BOT })).build);
  assert.equal(build.status, "timeout");
  assert.match(build.errorMessage ?? "", /too long/);
});

test("a build that a crash has cut short is built again", async () => {
  await using service = await startBuilds({ isRunning: false });
  const { build } = await service.deploy({ "bot.ts": BOT });
  await service.store.db.updateTable("builds").set({ status: "building", startedAt: 1 }).execute();
  const half = join(service.data, "builds", `.${build.id}`);
  mkdirSync(half, { recursive: true });
  writeFileSync(join(half, "left-over"), "");
  service.run();
  const ended = await service.final(build);
  assert.equal(ended.status, "success", ended.errorMessage ?? "");
  assert.ok(!existsSync(join(buildFolder(service.data, build.id), "left-over")));
});

test("two build at once, and no more than that", async () => {
  await using service = await startBuilds({ isRunning: false, atOnce: 2 });
  const files = (name: string) => ({ "bot.ts": `${BOT}// ${name}` });
  const all = await Promise.all(["a", "b", "c"].map((name) => service.deploy(files(name))));
  const building = () =>
    service.store.db.selectFrom("builds").select("id").where("status", "=", "building").execute();
  let most = 0;
  service.run();
  const watching = until(
    async () => {
      most = Math.max(most, (await building()).length);
      return (await service.builds.read(service.organization, all[2]?.build.id ?? "")).status === "success";
    },
    60_000,
    "end of the last build",
  );
  for (const { build } of all) assert.equal((await service.final(build)).status, "success");
  await watching;
  assert.equal(most, 2);
});

test("an organisation has so many builds waiting, and so much of the disk", async () => {
  await using service = await startBuilds({ isRunning: false, quotas: { builds: 1, diskMib: 1 } });
  const noise = randomBytes(700 * 1024).toString("base64"); // 0.7 MiB that gzip cannot compress
  const { build } = await service.deploy({ "bot.ts": BOT, noise });
  await refused(service.deploy({ "bot.ts": `${BOT}//` }), "TOO_MANY_BUILDS");
  service.run();
  const ended = await service.final(build);
  assert.match(ended.errorMessage ?? "", /may take 1 MiB and take 1/);
  assert.ok(!existsSync(buildFolder(service.data, build.id)));
  const { uploadId, uploadFields: fields } = await service.builds.createUpload(service.organization, {
    region: undefined,
    actor: "key:1",
  });
  const file = Readable.from([await service.pack({ "bot.ts": BOT, noise })]);
  await refused(service.builds.receiveUpload({ uploadId, fields, file }), "QUOTA_EXCEEDED");
  assert.ok(!existsSync(join(service.data, "uploads", `${uploadId}.tgz`)));
  await service.store.db
    .updateTable("uploads")
    .set({ sizeBytes: 1024 ** 2 })
    .execute();
  await refused(service.deploy({ "bot.ts": BOT }), "QUOTA_EXCEEDED");
});

test("archives nobody needs any more are removed", async () => {
  await using service = await startBuilds({ isRunning: false });
  const { build } = await service.deploy({ "bot.ts": BOT });
  await service.store.db.updateTable("uploads").set({ expiresAt: 1 }).execute();
  service.run();
  await service.final(build);
  await service.stop();
  const row = await service.store.db.selectFrom("uploads").selectAll().executeTakeFirstOrThrow();
  const archive = join(service.data, "uploads", `${row.id}.tgz`);
  assert.ok(existsSync(archive)); // it was still pending when the worker checked
  service.run();
  await until(() => !existsSync(archive), 20_000, "end of the archive");
});

async function refused(promise: Promise<unknown>, code: string): Promise<void> {
  await assert.rejects(promise, (error) => isAppError(error) && error.code === code);
}
