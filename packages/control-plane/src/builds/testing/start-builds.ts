// Starts builds for tests, with a store, a folder, two organisations and a worker.
import type { Build } from "@vocalhost/protocol";
import { randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { until } from "../../../../../testing/wait.ts";
import type { OrganizationId } from "../../identity/principal.ts";
import { silentLog } from "@vocalhost/base/log";
import { createQuotas, defaultQuotas, type Quotas } from "../../identity/quotas/quotas.ts";
import { openSqliteStore } from "@vocalhost/store/sqlite";
import type { Store } from "@vocalhost/store/store";
import { systemClock } from "@vocalhost/base/system-clock";
import { createBuildFolders } from "../build-folders.ts";
import { createBuilds } from "../builds.ts";
import { packFolder } from "../pack-folder.ts";

const SDK = fileURLToPath(new URL("../../../../sdk", import.meta.url));

export async function startBuilds({
  isRunning = true,
  buildTimeoutMs = 60_000,
  atOnce = 1,
  quotas = {},
  store: given,
}: {
  isRunning?: boolean;
  buildTimeoutMs?: number;
  atOnce?: number;
  quotas?: Partial<Quotas>;
  store?: Store;
} = {}) {
  const temporary = mkdtempSync(join(tmpdir(), "builds-"));
  const data = join(temporary, "data");
  mkdirSync(data);
  const store = given ?? (await openSqliteStore({ file: join(temporary, "vocalhost.db"), log: silentLog }));
  const organization = randomUUID() as OrganizationId;
  const stranger = randomUUID() as OrganizationId;
  const builds = createBuilds({
    store,
    clock: systemClock,
    newId: randomUUID,
    log: silentLog,
    regions: ["here", "there"],
    dataFolder: data,
    folders: createBuildFolders({ dataFolder: data, objectStore: undefined, sdkFolder: SDK }),
    sdkFolder: SDK,
    buildTimeoutMs,
    atOnce,
    quotasOf: createQuotas({ ...defaultQuotas, ...quotas }),
  });
  for (const [name, id] of [
    ["own", organization],
    ["strange", stranger],
  ] as const)
    await store.db
      .insertInto("organizations")
      .values({ id, name, verboseName: name, properties: "{}", createdAt: 1 })
      .execute();
  let ending = new AbortController();
  let running: Promise<void> | undefined;
  let projects = 0;
  const stop = async (): Promise<void> => {
    ending.abort();
    await running;
  };
  const run = (): void => {
    ending = new AbortController();
    running = builds.run(ending.signal);
  };

  async function pack(files: Record<string, string>): Promise<Buffer> {
    projects += 1;
    const folder = join(temporary, `project-${projects}`);
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    }
    return packFolder(folder);
  }

  async function upload(archive: Buffer, { dockerfilePath = "Dockerfile" } = {}) {
    const actor = "key:1";
    const { uploadId, uploadFields } = await builds.createUpload(organization, { region: undefined, actor });
    await builds.receiveUpload({ uploadId, fields: uploadFields, file: Readable.from([archive]) });
    return builds.create(organization, { uploadId, dockerfilePath, actor });
  }

  if (isRunning) run();
  return {
    builds,
    data,
    store,
    organization,
    stranger,
    pack,
    run,
    stop,
    upload,
    deploy: async (files: Record<string, string>, options?: { dockerfilePath?: string }) =>
      upload(await pack(files), options),
    final: ({ id }: Build) =>
      until(
        async () => {
          const build = await builds.read(organization, id);
          return build.status !== "pending" && build.status !== "building" && build;
        },
        20_000,
        "end of the build",
      ),
    async facts({ id }: Build): Promise<unknown> {
      const { facts } = await store.db
        .selectFrom("builds")
        .select("facts")
        .where("id", "=", id)
        .executeTakeFirstOrThrow();
      return JSON.parse(facts);
    },
    logs: ({ id }: Build, limit: number, nextToken?: string) =>
      builds.readLogs(organization, { buildId: id, limit, nextToken }),
    async [Symbol.asyncDispose]() {
      await stop();
      await store[Symbol.asyncDispose]();
      rmSync(temporary, { recursive: true, force: true });
    },
  };
}
