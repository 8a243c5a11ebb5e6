import { isAppError } from "@vocalhost/protocol";
import { chown, mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { cutLine, toInertLines } from "@vocalhost/base/inert-text";
import { builderUser, closeToChanges, type RunAs } from "@vocalhost/drivers/process/own-users";
import { requireDiskQuota } from "../identity/quotas/require-quota.ts";
import type { BuildRow } from "@vocalhost/store/schema";
import type { BuildContext } from "./build-context.ts";
import { buildFolder } from "./build-folders.ts";
import { makeImage, tagOf } from "./make-image.ts";
import { runBuilder, type BuildOutcome } from "./run-builder.ts";
import type { UploadFiles } from "./upload-files.ts";

const BUILD_TIMEOUT_MS = 600_000;

/** Runs one build and stores its outcome. */
export async function buildOne(
  context: BuildContext,
  files: UploadFiles,
  { row, slot, signal }: { row: BuildRow; slot: number; signal: AbortSignal },
): Promise<void> {
  const { store, clock, log, dataFolder } = context;
  const images = context.imagesIn?.(row.region);
  const startedAt = clock.nowMs();
  const startedMs = clock.monotonicMs();
  await store.transaction(async (tx) => {
    await tx
      .updateTable("builds")
      .set({ status: "building", startedAt, updatedAt: startedAt })
      .where("id", "=", row.id)
      .execute();
    await tx.deleteFrom("buildLogLines").where("buildId", "=", row.id).execute();
  });
  const temporary = join(dataFolder, "builds", `.${row.id}`);
  const final = buildFolder(dataFolder, row.id);
  for (const folder of [temporary, final]) await rm(folder, { recursive: true, force: true });
  await mkdir(temporary, { recursive: true, mode: 0o700 });
  const buildLog = createBuildLog(context, row.id);
  const archive = await files.bring(row.uploadId);
  const user = await builderOf(context, { archive, folder: temporary, slot });
  const timeoutMs = context.buildTimeoutMs ?? BUILD_TIMEOUT_MS;
  const prepared = await runBuilder({
    user,
    task: {
      archive,
      folder: temporary,
      dockerfilePath: row.dockerfilePath,
      sdkFolder: context.sdkFolder,
      allowsForeignPackages: context.allowsForeignPackages ?? false,
      makes: images ? "image" : "folder",
    },
    timeoutMs,
    say: buildLog.add,
    signal,
  });
  const leftMs = timeoutMs - (clock.monotonicMs() - startedMs);
  const built =
    images && prepared.status === "success"
      ? await makeImage(images, {
          ...prepared,
          row,
          folder: temporary,
          say: buildLog.add,
          leftMs,
          signal,
        })
      : prepared;
  if (signal.aborted) return rm(temporary, { recursive: true, force: true });
  const outcome = await withinQuota(context, row, built);
  if (outcome.status === "success" && !images) {
    if (user) await closeToChanges(temporary);
    await rename(temporary, final);
    await context.folders.keep(row.id);
  } else await rm(temporary, { recursive: true, force: true });
  buildLog.add(lastLine(outcome));
  await buildLog.flush();
  const completedAt = startedAt + Math.round(clock.monotonicMs() - startedMs);
  await finish(context, row, { outcome, completedAt });
  log.info({ buildId: row.id, status: outcome.status, ms: completedAt - startedAt }, "build ended");
}

/** Fails a build whose result does not fit into the organisation's disk quota. */
async function withinQuota(
  { store, quotasOf }: BuildContext,
  { organizationId }: BuildRow,
  outcome: BuildOutcome,
): Promise<BuildOutcome> {
  if (outcome.status !== "success") return outcome;
  try {
    await store.transaction((tx) => requireDiskQuota({ store, tx, quotasOf }, organizationId, outcome.bytes));
    return outcome;
  } catch (error) {
    if (!isAppError(error) || error.code !== "QUOTA_EXCEEDED") throw error;
    return { status: "failed", message: error.message };
  }
}

/** Gives the builder's user its archive, its folder and a home folder, and returns that user. */
async function builderOf(
  { users, dataFolder }: BuildContext,
  { archive, folder, slot }: { archive: string; folder: string; slot: number },
): Promise<(RunAs & { home: string }) | undefined> {
  if (!users) return undefined;
  const user = builderUser(users, slot);
  const home = join(dataFolder, slot === 0 ? "builder-home" : `builder-home-${slot}`);
  await mkdir(home, { recursive: true, mode: 0o700 });
  for (const path of [archive, folder, home]) await chown(path, user.uid, user.gid);
  return { ...user, home };
}

async function finish(
  { store }: BuildContext,
  row: BuildRow,
  { outcome, completedAt }: { outcome: BuildOutcome; completedAt: number },
): Promise<void> {
  const isSuccess = outcome.status === "success";
  await store.db
    .updateTable("builds")
    .set({
      status: outcome.status,
      imageUri: isSuccess ? imageUriOf(row) : null,
      errorMessage: isSuccess ? null : problemOf(outcome),
      imageSizeBytes: isSuccess ? outcome.bytes : null,
      facts: JSON.stringify(isSuccess ? outcome.facts : {}),
      completedAt,
      updatedAt: completedAt,
    })
    .where("id", "=", row.id)
    .where("status", "=", "building")
    .execute();
}

function imageUriOf(row: BuildRow): string {
  return `vocalhost/builds:${tagOf(row)}`;
}

function problemOf(outcome: Exclude<BuildOutcome, { status: "success" }>): string {
  // The message quotes the upload and the package manager.
  return outcome.status === "failed" ? cutLine(toInertLines(outcome.message)) : "The build took too long";
}

function lastLine(outcome: BuildOutcome): string {
  return outcome.status === "success" ? "Build succeeded" : `Build failed: ${problemOf(outcome)}`;
}

/** The lines of a build, stored in order while it runs. */
interface BuildLog {
  add(text: string): void;
  /** Resolves when everything added is stored or has failed. */
  flush(): Promise<void>;
}

const LINES_MAX = 10_000; // the most that one request returns
const LINE_MAX_CHARACTERS = 4_096;

function createBuildLog({ store, log }: Pick<BuildContext, "store" | "log">, buildId: string): BuildLog {
  let number = 0;
  let waiting: { buildId: string; number: number; text: string }[] = [];
  let writing: Promise<void> | undefined;

  async function write(): Promise<void> {
    while (waiting.length > 0) {
      const lines = waiting.splice(0, 200);
      // A failing log must not fail the build.
      await store.db
        .insertInto("buildLogLines")
        .values(lines)
        .execute()
        .catch((error: unknown) => log.warn({ err: error, buildId }, "build log not kept"));
    }
    writing = undefined;
  }

  return {
    add(text) {
      if (number >= LINES_MAX) return;
      waiting.push({ buildId, number, text: inert(text).slice(0, LINE_MAX_CHARACTERS) });
      number += 1;
      writing ??= write();
    },
    async flush() {
      await writing;
    },
  };
}

// Terminals and pages show it, so colours and cursor movements are removed.
function inert(text: string): string {
  // eslint-disable-next-line no-control-regex
  return text.replace(/\u001b\[[0-9;]*[A-Za-z]/g, "").replace(/[\p{Cc}\p{Cf}]/gu, " ");
}
