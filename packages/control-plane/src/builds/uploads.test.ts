// Runs on both stores, because rows record what is reserved and accepted.
import { isAppError } from "@vocalhost/protocol";
import assert from "node:assert/strict";
import { randomBytes, randomUUID } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { startS3Server } from "../../../../testing/s3-server.ts";
import { until, within } from "../../../../testing/wait.ts";
import type { OrganizationId } from "../identity/principal.ts";
import type { ObjectStore } from "./object-store/object-store.ts";
import { openS3ObjectStore } from "./object-store/s3-object-store.ts";
import { silentLog } from "@vocalhost/base/log";
import { createQuotas, defaultQuotas } from "../identity/quotas/quotas.ts";
import { countDiskMib } from "../identity/quotas/used-quotas.ts";
import { openMemoryStore } from "@vocalhost/store/sqlite";
import type { Store } from "@vocalhost/store/store";
import { systemClock } from "@vocalhost/base/system-clock";
import { eachStore } from "@vocalhost/store/testing/each-store";
import { createBuildFolders } from "./build-folders.ts";
import { createBuilds } from "./builds.ts";

const MIB = 1024 ** 2;
const DEADLINE_MS = 30_000;
const HOUR_MS = 3_600_000;

eachStore((open) => {
  test("bodies on their way count against the organisation's disk", async () => {
    await using service = await start({ store: await open(), diskMib: 3 });
    const archive = archiveOf(2 * MIB);
    const first = await service.send(await service.createUpload());
    first.body.write(archive.subarray(0, -10));
    await until(() => service.written() >= archive.length - 100_000, DEADLINE_MS, "most of the first body");

    const second = await service.send(await service.createUpload());
    second.body.write(archive.subarray(0, -10)); // its end never comes, so the upload must be refused earlier
    await refused(ended(second.done), "QUOTA_EXCEEDED");
    assert.ok(service.written() <= 3 * MIB);

    first.body.destroy(new Error("the client went away"));
    await assert.rejects(ended(first.done));
    assert.equal(
      await countDiskMib(service.store.db, service.organization),
      0,
      "what was held is given back",
    );
    const third = await service.send(await service.createUpload());
    third.body.end(archive);
    await ended(third.done);
    assert.ok((await countDiskMib(service.store.db, service.organization)) * MIB - archive.length < 1);
    assert.deepEqual(service.partial(), []);
  });

  test("of two bodies for one upload the first that is whole is taken, and the other changes nothing", async () => {
    await using service = await start({ store: await open(), diskMib: 50 });
    const upload = await service.createUpload();
    const [slow, quick] = [archiveOf(300_000), archiveOf(100_000)];
    const late = await service.send(upload);
    late.body.write(slow.subarray(0, -10));
    await until(() => service.written() > 200_000, DEADLINE_MS, "most of the slow body");
    const early = await service.send(upload);
    early.body.end(quick);
    await ended(early.done);
    late.body.end(slow.subarray(-10));
    await refused(ended(late.done), "GENERIC_BAD_REQUEST");
    assert.ok(readFileSync(service.archiveOf(upload.uploadId)).equals(quick));
    assert.deepEqual(service.partial(), []);
    const { sizeBytes } = await service.store.db
      .selectFrom("uploads")
      .select("sizeBytes")
      .executeTakeFirstOrThrow();
    assert.equal(sizeBytes, quick.length);
    const input = { uploadId: upload.uploadId, dockerfilePath: "Dockerfile", actor: "key:1" };
    const { build } = await service.builds.create(service.organization, input);
    assert.equal(build.contextSizeBytes, quick.length);
  });

  test("what a dead controller left of a body is cleared away, and given back", async () => {
    await using service = await start({ store: await open(), diskMib: 3 });
    const { uploadId } = await service.createUpload();
    await service.store.db
      .updateTable("uploads")
      .set({ sizeBytes: 3 * MIB, expiresAt: Date.now() - 2 * HOUR_MS })
      .execute();
    mkdirSync(join(service.data, "uploads"), { recursive: true });
    const [dead, alive] = [service.partOf(uploadId), service.partOf(randomUUID())];
    for (const path of [dead, alive]) writeFileSync(path, "half an archive");
    utimesSync(dead, new Date(), new Date(Date.now() - 2 * HOUR_MS));
    await refused(service.createUpload(), "QUOTA_EXCEEDED");
    service.run();
    await until(() => !existsSync(dead), DEADLINE_MS, "end of the leftover");
    await until(
      async () => (await countDiskMib(service.store.db, service.organization)) === 0,
      DEADLINE_MS,
      "end of what was held",
    );
    assert.ok(existsSync(alive), "somebody may be writing it");
  });
});

test("an upload that could not be kept can be sent again", async () => {
  await using server = await startS3Server();
  const { bucket, endpoint, region, credentials } = server;
  using objectStore = await openS3ObjectStore({ bucket, endpoint, region, credentials, prefix: "" });
  await using service = await start({ store: await openMemoryStore(), diskMib: 3, objectStore });
  const upload = await service.createUpload();
  const archive = archiveOf(2 * MIB);
  server.failNext(3);
  const first = await service.send(upload);
  first.body.end(archive);
  await refused(ended(first.done), "SERVICE_UNAVAILABLE");
  assert.equal(await countDiskMib(service.store.db, service.organization), 0);
  const second = await service.send(upload);
  second.body.end(archive);
  await ended(second.done);
  assert.deepEqual([...server.objects.keys()].sort(), [
    `uploads/${upload.uploadId}.json`,
    `uploads/${upload.uploadId}.tgz`,
  ]);
});

interface GivenUpload {
  uploadId: string;
  uploadFields: Record<string, string>;
}

async function start({
  store,
  diskMib,
  objectStore,
}: {
  store: Store;
  diskMib: number;
  objectStore?: ObjectStore;
}) {
  const data = mkdtempSync(join(tmpdir(), "vocalhost-uploads-"));
  const uploads = join(data, "uploads");
  const organization = randomUUID() as OrganizationId;
  await store.db
    .insertInto("organizations")
    .values({ id: organization, name: "own", verboseName: "own", properties: "{}", createdAt: 1 })
    .execute();
  const builds = createBuilds({
    ...{ store, objectStore, dataFolder: data, sdkFolder: data, log: silentLog, clock: systemClock },
    folders: createBuildFolders({ dataFolder: data, objectStore, sdkFolder: data }),
    newId: randomUUID,
    regions: ["here"],
    quotasOf: createQuotas({ ...defaultQuotas, diskMib }),
  });
  const bodies: PassThrough[] = [];
  const ending = new AbortController();
  let running: Promise<void> | undefined;
  const files = (): string[] => (existsSync(uploads) ? readdirSync(uploads) : []);
  return {
    ...{ store, builds, data, organization },
    run: () => {
      running = builds.run(ending.signal);
    },
    createUpload: (): Promise<GivenUpload> =>
      builds.createUpload(organization, { region: undefined, actor: "key:1" }),
    /** Begins an upload; the test writes its body. */
    async send({ uploadId, uploadFields }: GivenUpload) {
      const body = new PassThrough();
      body.on("error", () => undefined);
      bodies.push(body);
      const done = builds.receiveUpload({ uploadId, fields: uploadFields, file: body });
      done.catch(() => undefined);
      return { body, done };
    },
    /** Returns the total bytes of all uploads. */
    written: () => files().reduce((sum, name) => sum + readFileSync(join(uploads, name)).length, 0),
    partial: () => files().filter((name) => name.endsWith(".part")),
    archiveOf: (uploadId: string) => join(uploads, `${uploadId}.tgz`),
    partOf: (uploadId: string) => join(uploads, `${uploadId}.${randomUUID()}.part`),
    async [Symbol.asyncDispose]() {
      for (const body of bodies) body.destroy(new Error("the test is over"));
      ending.abort();
      await running;
      await store[Symbol.asyncDispose]();
      rmSync(data, { recursive: true, force: true });
    },
  };
}

/** Returns an archive of random bytes, which gzip cannot compress. */
function archiveOf(bytes: number): Buffer {
  return gzipSync(randomBytes(bytes));
}

function ended<T>(done: Promise<T>): Promise<T> {
  return within(done, DEADLINE_MS, "end of the upload");
}

async function refused(promise: Promise<unknown>, code: string): Promise<void> {
  await assert.rejects(promise, (error) => {
    assert.ok(isAppError(error), String(error));
    assert.equal(error.code, code);
    return true;
  });
}
