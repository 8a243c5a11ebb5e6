import { AppError, type Build } from "@vocalhost/protocol";
import { randomUUID } from "node:crypto";
import { text } from "node:stream/consumers";
import type { OrganizationId } from "../../auth/principal.ts";
import type { BuildRow } from "../../store/schema.ts";
import type { Store } from "../../store/store.ts";
import type { BuildsPort } from "../ports.ts";
import { insertBuild } from "./rows.ts";

/** Takes uploads and builds nothing: the interface is what is tested. */
export function createFakeBuilds({ store, regions }: { store: Store; regions: string[] }): BuildsPort {
  const uploads = new Map<string, { organizationId: OrganizationId; secret: string; content?: string }>();
  const rows = (organizationId: OrganizationId) =>
    store.db.selectFrom("builds").where("organizationId", "=", organizationId);

  const find = async (organizationId: OrganizationId, id: string): Promise<BuildRow> => {
    const row = await rows(organizationId).selectAll().where("id", "=", id).executeTakeFirst();
    if (!row) throw new AppError("NOT_FOUND", { message: "Build not found" });
    return row;
  };

  return {
    async createUpload(organizationId, { region }) {
      if (region !== undefined && !regions.includes(region))
        throw new AppError("GENERIC_BAD_REQUEST", {
          message: `Builds are not enabled in region '${region}'`,
        });
      const uploadId = randomUUID();
      const secret = randomUUID();
      uploads.set(uploadId, { organizationId, secret });
      return {
        uploadId,
        uploadFields: { key: uploadId, Policy: secret },
        expiresAt: new Date().toISOString(),
      };
    },
    async receiveUpload({ uploadId, fields, file }) {
      const upload = uploads.get(uploadId);
      if (!upload || upload.secret !== fields["Policy"]) throw new AppError("ACCESS_DENIED");
      upload.content = await text(file);
    },
    async create(organizationId, { uploadId, dockerfilePath, region }) {
      const upload = uploads.get(uploadId);
      if (upload?.organizationId !== organizationId || upload.content === undefined)
        throw new AppError("GENERIC_BAD_REQUEST", { message: "Upload not found" });
      const contextHash = upload.content.slice(0, 16);
      const same = await rows(organizationId)
        .selectAll()
        .where("contextHash", "=", contextHash)
        .executeTakeFirst();
      const row =
        same ??
        (await insertBuild(store, organizationId, {
          contextHash,
          dockerfilePath,
          region: region ?? regions[0] ?? "",
        }));
      return { build: toBuild(row), contextHash, cached: same !== undefined };
    },
    read: async (organizationId, buildId) => toBuild(await find(organizationId, buildId)),
    async readLogs(organizationId, { buildId, limit }) {
      await find(organizationId, buildId);
      return { logs: ["one", "two"].slice(0, limit) };
    },
    async list(organizationId, query) {
      const all = await rows(organizationId).selectAll().orderBy("createdAt", "desc").execute();
      const wanted = all.filter((row) => query.status === undefined || row.status === query.status);
      const builds = wanted.slice(query.offset, query.offset + query.limit).map(toBuild);
      return { builds, total: wanted.length };
    },
  };
}

function toBuild(row: BuildRow): Build {
  const time = (ms: number) => new Date(ms).toISOString();
  return {
    ...row,
    logsUrl: null,
    buildDurationSeconds: null,
    startedAt: null,
    completedAt: null,
    createdAt: time(row.createdAt),
    updatedAt: time(row.updatedAt),
  };
}
