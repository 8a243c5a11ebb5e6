import type { Build, BuildListQuery, BuildLogs, CreateBuild, Upload } from "@vocalhost/protocol";
import type { Readable } from "node:stream";
import type { OrganizationId } from "../identity/principal.ts";
import type { BuildContext } from "./build-context.ts";
import { listBuilds, readBuild, readBuildLogs, startBuild } from "./build-rows.ts";
import { runBuilds } from "./run-builds.ts";
import { createUploadFiles } from "./upload-files.ts";
import { createUpload, receiveUpload } from "./uploads.ts";

/** Receives bots' folders and builds the folders that instances run in. */
export interface Builds {
  createUpload(
    organizationId: OrganizationId,
    input: { region: string | undefined; actor: string },
  ): Promise<Omit<Upload, "uploadUrl">>;
  receiveUpload(upload: { uploadId: string; fields: Record<string, string>; file: Readable }): Promise<void>;
  create(
    organizationId: OrganizationId,
    input: CreateBuild & { actor: string },
  ): Promise<{ build: Build; contextHash: string; cached: boolean }>;
  read(organizationId: OrganizationId, buildId: string): Promise<Build>;
  readLogs(
    organizationId: OrganizationId,
    query: { buildId: string; limit: number; nextToken: string | undefined },
  ): Promise<BuildLogs>;
  list(organizationId: OrganizationId, query: BuildListQuery): Promise<{ builds: Build[]; total: number }>;
  /** Runs pending builds until the signal aborts; only the leader calls it. */
  run(signal: AbortSignal): Promise<void>;
}

const LOOK_AGAIN_MS = 1_000; // for builds that another controller accepted

export function createBuilds(context: BuildContext): Builds {
  const files = createUploadFiles(context.dataFolder, { objectStore: context.objectStore });
  let wake = new AbortController();
  return {
    createUpload: (organizationId, input) => createUpload(context, organizationId, input),
    receiveUpload: (upload) => receiveUpload(context, files, upload),
    async create(organizationId, input) {
      const started = await startBuild(context, files, { organizationId, input });
      wake.abort();
      return started;
    },
    read: (organizationId, buildId) => readBuild(context, organizationId, buildId),
    readLogs: (organizationId, query) => readBuildLogs(context, organizationId, query),
    list: (organizationId, query) => listBuilds(context, organizationId, query),
    run: (signal) =>
      runBuilds(context, files, {
        signal,
        wake: () => wake.abort(),
        async wait() {
          await context.clock.sleep(LOOK_AGAIN_MS, AbortSignal.any([signal, wake.signal]));
          if (wake.signal.aborted) wake = new AbortController();
        },
      }),
  };
}
