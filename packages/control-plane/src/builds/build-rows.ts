import {
  AppError,
  type Build,
  type BuildListQuery,
  type BuildLogs,
  type CreateBuild,
} from "@vocalhost/protocol";
import { writeAudit } from "../identity/audit.ts";
import type { OrganizationId } from "../identity/principal.ts";
import { requireBuildQuota, requireDiskQuota } from "../identity/quotas/require-quota.ts";
import type { BuildRow } from "@vocalhost/store/schema";
import type { Db } from "@vocalhost/store/store";
import { toTime } from "@vocalhost/base/to-time";
import type { BuildContext } from "./build-context.ts";
import { BuildFacts } from "./build-facts.ts";
import type { UploadFiles } from "./upload-files.ts";
import { requireRegion } from "./uploads.ts";

/** Returns false if the engine's storage was emptied, and for builds of another driver. */
async function isThere(
  { imagesIn, folders }: Pick<BuildContext, "imagesIn" | "folders">,
  { id, region, facts }: BuildRow,
): Promise<boolean> {
  const images = imagesIn?.(region);
  if (!images) return folders.has(id);
  const image = BuildFacts.safeParse(JSON.parse(facts)).data?.image;
  return image !== undefined && images.has(image.reference);
}

/** Starts a build of the upload, or returns an existing or running one of the same files. */
export async function startBuild(
  context: BuildContext,
  files: UploadFiles,
  { organizationId, input }: { organizationId: OrganizationId; input: CreateBuild & { actor: string } },
): Promise<{ build: Build; contextHash: string; cached: boolean }> {
  const { store, clock, regions, quotasOf } = context;
  store.requireDiskSpace();
  const dockerfilePath = requireRelative(input.dockerfilePath);
  const upload = await store.db
    .selectFrom("uploads")
    .selectAll()
    .where("organizationId", "=", organizationId)
    .where("id", "=", input.uploadId)
    .where("receivedAt", "is not", null)
    .executeTakeFirst();
  const info = upload ? await files.info(upload.id) : undefined;
  if (!upload || !info) throw new AppError("GENERIC_BAD_REQUEST", { message: "Upload not found" });
  const region = requireRegion(regions, input.region ?? upload.region);
  const { contextHash, contentHash } = info;
  const nowMs = clock.nowMs();
  const row = newRow({
    id: context.newId(),
    organizationId,
    region,
    uploadId: upload.id,
    contextHash,
    contentHash,
    dockerfilePath,
    contextSizeBytes: upload.sizeBytes,
    nowMs,
  });
  const sameBuilds = (db: Db) =>
    db
      .selectFrom("builds")
      .selectAll()
      .where("organizationId", "=", organizationId)
      .where("contentHash", "=", contentHash)
      .where("region", "=", region)
      .where("dockerfilePath", "=", dockerfilePath)
      .where("status", "in", ["success", "building", "pending"])
      .orderBy("createdAt", "desc");
  const thereById = new Map<string, boolean>();
  for (const found of await sameBuilds(store.db).where("status", "=", "success").execute())
    thereById.set(found.id, await isThere(context, found)); // may be slow: not in a transaction
  return store.transaction(async (tx) => {
    const same = await sameBuilds(tx).execute();
    // A build that has succeeded since the check exists.
    const earlier = same.find(({ id, status }) => status !== "success" || (thereById.get(id) ?? true));
    if (earlier) {
      // The caller will deploy it, so it must not be pruned as unneeded.
      const touched = await tx
        .updateTable("builds")
        .set({ updatedAt: nowMs })
        .where("id", "=", earlier.id)
        .returningAll()
        .executeTakeFirst();
      if (touched) return { build: toBuild(touched), contextHash, cached: true };
    }
    await requireBuildQuota({ store, tx, quotasOf }, organizationId);
    await requireDiskQuota({ store, tx, quotasOf }, organizationId);
    await tx.insertInto("builds").values(row).execute();
    const { actor } = input;
    await writeAudit(tx, { organizationId, at: nowMs, actor, action: "build-created", target: row.id });
    return { build: toBuild(row), contextHash, cached: false };
  });
}

export async function readBuild(
  { store }: Pick<BuildContext, "store">,
  organizationId: OrganizationId,
  buildId: string,
): Promise<Build> {
  const row = await store.db
    .selectFrom("builds")
    .selectAll()
    .where("organizationId", "=", organizationId)
    .where("id", "=", buildId)
    .executeTakeFirst();
  if (!row) throw new AppError("NOT_FOUND", { message: "Build not found" });
  return toBuild(row);
}

export async function listBuilds(
  context: Pick<BuildContext, "store" | "imagesIn" | "folders">,
  organizationId: OrganizationId,
  query: BuildListQuery,
): Promise<{ builds: Build[]; total: number }> {
  const { store } = context;
  let rows = store.db.selectFrom("builds").where("organizationId", "=", organizationId);
  if (query.status !== undefined) rows = rows.where("status", "=", query.status);
  if (query.region !== undefined) rows = rows.where("region", "=", query.region);
  const { contextHash } = query;
  if (contextHash !== undefined)
    rows = rows.where((is) =>
      is.or([is("contextHash", "=", contextHash), is("contentHash", "=", contextHash)]),
    );
  const { total } = await rows
    .select(({ fn }) => fn.countAll<number>().as("total"))
    .executeTakeFirstOrThrow();
  const builds = await rows
    .selectAll()
    .orderBy("createdAt", "desc")
    .orderBy("id", "desc")
    .limit(query.limit)
    .offset(query.offset)
    .execute();
  if (query.contextHash === undefined) return { builds: builds.map(toBuild), total };
  const there = await Promise.all(
    builds.map(async (row) => row.status !== "success" || isThere(context, row)),
  );
  return { builds: builds.filter((_row, at) => there[at]).map(toBuild), total };
}

/** Returns lines in order; `nextToken` is set while more may follow. */
export async function readBuildLogs(
  context: Pick<BuildContext, "store">,
  organizationId: OrganizationId,
  query: { buildId: string; limit: number; nextToken: string | undefined },
): Promise<BuildLogs> {
  const { status } = await readBuild(context, organizationId, query.buildId);
  const from = Number(query.nextToken ?? 0);
  const rows = await context.store.db
    .selectFrom("buildLogLines")
    .select(["number", "text"])
    .where("buildId", "=", query.buildId)
    .where("number", ">=", from)
    .orderBy("number")
    .limit(query.limit)
    .execute();
  const isMore = rows.length === query.limit || status === "pending" || status === "building";
  const next = (rows.at(-1)?.number ?? from - 1) + 1;
  return { logs: rows.map(({ text }) => text), ...(isMore ? { nextToken: String(next) } : {}) };
}

export function toBuild(row: BuildRow): Build {
  const { startedAt, completedAt } = row;
  return {
    id: row.id,
    organizationId: row.organizationId,
    status: row.status,
    region: row.region,
    contextHash: row.contextHash,
    dockerfilePath: row.dockerfilePath,
    imageUri: row.imageUri,
    logsUrl: null,
    errorMessage: row.errorMessage,
    contextSizeBytes: row.contextSizeBytes,
    imageSizeBytes: row.imageSizeBytes,
    buildDurationSeconds:
      startedAt === null || completedAt === null ? null : Math.round((completedAt - startedAt) / 1000),
    startedAt: timeOf(startedAt),
    completedAt: timeOf(completedAt),
    createdAt: toTime(row.createdAt),
    updatedAt: toTime(row.updatedAt),
  };
}

function newRow({
  nowMs,
  ...fields
}: Pick<
  BuildRow,
  | "id"
  | "organizationId"
  | "region"
  | "uploadId"
  | "contextHash"
  | "contentHash"
  | "dockerfilePath"
  | "contextSizeBytes"
> & {
  nowMs: number;
}): BuildRow {
  return {
    ...fields,
    status: "pending",
    imageUri: null,
    errorMessage: null,
    imageSizeBytes: null,
    facts: "{}",
    startedAt: null,
    completedAt: null,
    createdAt: nowMs,
    updatedAt: nowMs,
  };
}

function requireRelative(path: string): string {
  const parts = path.split("/").filter((part) => part !== "" && part !== ".");
  const isInside = !path.startsWith("/") && parts.length > 0 && !parts.includes("..") && !/[\0\\]/.test(path);
  if (isInside) return parts.join("/");
  throw new AppError("GENERIC_BAD_REQUEST", {
    message: "dockerfilePath must be a path within the bot's folder",
  });
}

function timeOf(ms: number | null): string | null {
  return ms === null ? null : toTime(ms);
}
