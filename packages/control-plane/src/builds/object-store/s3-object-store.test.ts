import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { startS3Server, type S3Server } from "../../../../../testing/s3-server.ts";
import type { ObjectStoreConfig } from "./object-store-config.ts";
import type { KeptObject } from "./object-store.ts";
import { openS3ObjectStore } from "./s3-object-store.ts";

test("what was put is fetched as it was, listed page by page, and gone when it is removed", async () => {
  await using bench = await start();
  const { objectStore, server, folder } = bench;
  const bytes = randomBytes(300_000);
  writeFileSync(join(folder, "in"), bytes);
  for (const name of ["a", "b", "c"]) await objectStore.put(`builds/${name}.tgz`, join(folder, "in"));
  await objectStore.put("uploads/a b+c.tgz", join(folder, "in"));
  assert.deepEqual([...server.objects.keys()].sort(), [
    "team/builds/a.tgz",
    "team/builds/b.tgz",
    "team/builds/c.tgz",
    "team/uploads/a b+c.tgz",
  ]);
  assert.equal(await objectStore.fetch("uploads/a b+c.tgz", join(folder, "out")), true);
  assert.ok(readFileSync(join(folder, "out")).equals(bytes));
  const listed: KeptObject[] = [];
  for await (const each of objectStore.list("builds/")) listed.push(each);
  assert.deepEqual(
    listed.map(({ key }) => key),
    ["builds/a.tgz", "builds/b.tgz", "builds/c.tgz"],
  );
  assert.ok(listed.every(({ putAtMs }) => Math.abs(putAtMs - Date.now()) < 60_000));
  assert.equal(await objectStore.has("builds/a.tgz"), true);
  await objectStore.remove("builds/a.tgz");
  await objectStore.remove("builds/a.tgz");
  assert.equal(await objectStore.has("builds/a.tgz"), false);
  assert.equal(await objectStore.fetch("builds/a.tgz", join(folder, "none")), false);
  assert.equal(existsSync(join(folder, "none")), false);
  assert.deepEqual(new Set(server.refusals), new Set(["NoSuchKey"]));
});

test("a storage that stumbles is asked again; one that refuses is not, and the caller may try later", async () => {
  await using bench = await start();
  const { objectStore, server, folder } = bench;
  writeFileSync(join(folder, "in"), "words");
  server.failNext(2);
  await objectStore.put("builds/a.tgz", join(folder, "in"));
  server.failNext(1);
  assert.equal(await objectStore.fetch("builds/a.tgz", join(folder, "out")), true);
  using stranger = await openS3ObjectStore({
    ...bench.config,
    credentials: { ...server.credentials, secretAccessKey: "guessed" },
  });
  await assert.rejects(stranger.put("builds/b.tgz", join(folder, "in")), { code: "SERVICE_UNAVAILABLE" });
  await assert.rejects(stranger.fetch("builds/a.tgz", join(folder, "x")), { code: "SERVICE_UNAVAILABLE" });
  assert.deepEqual([...server.objects.keys()], ["team/builds/a.tgz"]);
  assert.deepEqual(server.refusals.slice(-2), ["SignatureDoesNotMatch", "SignatureDoesNotMatch"]);
});

test("what comes damaged is not taken", async () => {
  await using bench = await start();
  const { objectStore, server, folder } = bench;
  writeFileSync(join(folder, "in"), "words");
  await objectStore.put("builds/a.tgz", join(folder, "in"));
  server.objects.get("team/builds/a.tgz")!.body = Buffer.from("other");
  await assert.rejects(objectStore.fetch("builds/a.tgz", join(folder, "out")), {
    code: "SERVICE_UNAVAILABLE",
  });
  assert.deepEqual(readdirSync(folder), ["in"]);
});

async function start() {
  const server: S3Server = await startS3Server();
  const folder = mkdtempSync(join(tmpdir(), "vocalhost-object-store-"));
  const { bucket, endpoint, region, credentials } = server;
  const config: ObjectStoreConfig = { bucket, endpoint, region, credentials, prefix: "team/" };
  const objectStore = await openS3ObjectStore(config);
  return {
    server,
    folder,
    config,
    objectStore,
    async [Symbol.asyncDispose]() {
      objectStore[Symbol.dispose]();
      await server[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
