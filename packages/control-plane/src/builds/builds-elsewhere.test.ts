import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { existsSync, lstatSync, mkdirSync, mkdtempSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { startS3Server } from "../../../../testing/s3-server.ts";
import { until } from "../../../../testing/wait.ts";
import type { OrganizationId } from "../identity/principal.ts";
import { openS3ObjectStore } from "./object-store/s3-object-store.ts";
import { DriverUnavailableError } from "@vocalhost/drivers/driver";
import { silentLog } from "@vocalhost/base/log";
import { createQuotas, defaultQuotas } from "../identity/quotas/quotas.ts";
import { pruneBuilds } from "../upkeep/retention/prune-builds.ts";
import { DAY_MS, defaultRetention } from "../upkeep/retention/retention.ts";
import { openMemoryStore } from "@vocalhost/store/sqlite";
import { systemClock } from "@vocalhost/base/system-clock";
import { createBuildFolders } from "./build-folders.ts";
import { createBuilds } from "./builds.ts";
import { packFolder } from "./pack-folder.ts";

const SDK = fileURLToPath(new URL("../../../sdk", import.meta.url));
const ACTOR = "key:1";

test("what one machine took in another builds, a third runs it, and in the end nothing is left", async () => {
  await using service = await start();
  const { server, store, organization } = service;
  const [taker, builder, runner] = [
    service.machine("taker"),
    service.machine("builder"),
    service.machine("runner"),
  ];
  const archive = await service.pack({ "bot.ts": "export async function bot(): Promise<void> {}\n" });
  const { build } = await taker.upload(archive);
  rmSync(taker.data, { recursive: true });

  const ending = new AbortController();
  const running = builder.builds.run(ending.signal);
  const built = await until(
    async () => {
      const now = await builder.builds.read(organization, build.id);
      return now.status !== "pending" && now.status !== "building" && now;
    },
    20_000,
    "end of the build",
  );
  ending.abort();
  await running;
  assert.deepEqual([built.status, built.errorMessage], ["success", null]);

  const again = await runner.upload(archive);
  assert.deepEqual([again.cached, again.build.id], [true, build.id]);
  server.failNext(3);
  await assert.rejects(runner.folders.bring(build.id), DriverUnavailableError);
  const [folder, same] = await Promise.all([runner.folders.bring(build.id), runner.folders.bring(build.id)]);
  assert.equal(folder, same);
  assert.ok(lstatSync(join(folder, "bot.ts")).isFile());
  assert.equal(readlinkSync(join(folder, "node_modules/vocalhost")), SDK);
  assert.ok(createRequire(join(folder, "bot.ts")).resolve("vocalhost/instance"));
  await assert.rejects(runner.folders.bring(randomUUID()), /is gone/);

  const prune = (nowMs: number, id = "own"): Promise<number> =>
    pruneBuilds(store, {
      nowMs,
      identity: { id, before: undefined },
      removesFiles: true,
      retention: defaultRetention,
      dataFolder: runner.data,
      log: silentLog,
      objectStore: service.objectStore,
    });
  writeFileSync(join(runner.data, "store-id"), "own");
  await prune(Date.now());
  for (const table of ["builds", "uploads"] as const) await store.db.deleteFrom(table).execute();
  const later = Date.now() + 2 * DAY_MS;
  const before = [...server.objects.keys()];
  await prune(later, "another store's");
  assert.deepEqual(
    [...server.objects.keys()],
    before,
    "the bucket carries the mark of the one that knew its builds",
  );
  await prune(Date.now());
  assert.ok(server.objects.size > 0, "what was put just now may belong to a row that is about to be written");
  await prune(later);
  const moved = (): string[] => [...server.objects.keys()].filter((key) => key !== "store-id");
  assert.ok(moved().length > 0 && moved().every((key) => key.startsWith("removed/")), moved().join());
  await prune(later + 31 * DAY_MS);
  assert.deepEqual(moved(), []);
  assert.equal(existsSync(folder), false);
});

async function start() {
  const temporary = mkdtempSync(join(tmpdir(), "vocalhost-elsewhere-"));
  const server = await startS3Server();
  const { bucket, endpoint, region, credentials } = server;
  const objectStore = await openS3ObjectStore({ bucket, endpoint, region, credentials, prefix: "" });
  const store = await openMemoryStore();
  const organization = randomUUID() as OrganizationId;
  await store.db
    .insertInto("organizations")
    .values({ id: organization, name: "own", verboseName: "own", properties: "{}", createdAt: 1 })
    .execute();

  function machine(name: string) {
    const data = join(temporary, name);
    mkdirSync(data);
    const folders = createBuildFolders({ dataFolder: data, objectStore, sdkFolder: SDK });
    const builds = createBuilds({
      ...{
        store,
        objectStore,
        folders,
        dataFolder: data,
        sdkFolder: SDK,
        log: silentLog,
        clock: systemClock,
      },
      newId: randomUUID,
      regions: ["here"],
      quotasOf: createQuotas(defaultQuotas),
    });
    async function upload(archive: Buffer) {
      const { uploadId, uploadFields } = await builds.createUpload(organization, {
        region: undefined,
        actor: ACTOR,
      });
      await builds.receiveUpload({ uploadId, fields: uploadFields, file: Readable.from([archive]) });
      return builds.create(organization, { uploadId, dockerfilePath: "Dockerfile", actor: ACTOR });
    }
    return { data, folders, builds, upload };
  }

  return {
    ...{ server, objectStore, store, organization, machine },
    async pack(files: Record<string, string>): Promise<Buffer> {
      const folder = join(temporary, "project");
      mkdirSync(folder);
      for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
      return packFolder(folder);
    },
    async [Symbol.asyncDispose]() {
      objectStore[Symbol.dispose]();
      await store[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
      rmSync(temporary, { recursive: true, force: true });
    },
  };
}
