import type { ApiClient } from "@vocalhost/protocol";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { until } from "../../testing/wait.ts";

const BUILT_MS = 60_000;

/** Uploads the files and has them built; gives the build's id. */
export function buildBot(api: ApiClient, files: Record<string, string>, region?: string): Promise<string> {
  return buildArchive(api, pack(files), region);
}

/** The same of a gzipped tar archive. */
export async function buildArchive(
  api: ApiClient,
  archive: Uint8Array<ArrayBuffer>,
  region?: string,
): Promise<string> {
  const { uploadId, uploadUrl, uploadFields } = await api.builds.createUpload(region);
  const file = new Blob([archive], { type: "application/gzip" });
  await api.builds.upload({ uploadUrl, uploadFields, file });
  const { build: started } = await api.builds.create({ uploadId, region });
  return until(
    async () => {
      const { build: now } = await api.builds.get(started.id);
      if (now.status === "failed" || now.status === "timeout") throw new Error(`Build: ${now.errorMessage}`);
      return now.status === "success" && now.id;
    },
    BUILT_MS,
    "successful build",
  );
}

function pack(files: Record<string, string>): Uint8Array<ArrayBuffer> {
  const folder = mkdtempSync(join(tmpdir(), "vocalhost-context-"));
  try {
    for (const [name, text] of Object.entries({ "package.json": '{"type":"module"}', ...files })) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    }
    const { stdout, status } = spawnSync("tar", ["-cz", "-C", folder, "."], { maxBuffer: 64 * 1024 * 1024 });
    if (status !== 0) throw new Error("tar failed");
    return new Uint8Array(stdout);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
