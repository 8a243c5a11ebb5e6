import type { Clock } from "@vocalhost/base/clock";
import type { BuildRow } from "@vocalhost/store/schema";
import type { Store } from "@vocalhost/store/store";
import { buildOne } from "./build-one.ts";
import type { BuildContext } from "./build-context.ts";
import { chooseBuild, type BuildsNow } from "./choose-build.ts";
import type { UploadFiles } from "./upload-files.ts";
import { sweepUploads } from "./uploads.ts";

const SWEEP_EVERY_MS = 600_000;

export interface BuildLoop {
  signal: AbortSignal;
  /** Resolves when there may be a build to run. */
  wait(): Promise<void>;
  wake(): void;
}

interface Running {
  organizationId: string;
  slot: number;
  done: Promise<void>;
}

/** Runs builds, a few at a time, until the signal aborts. Interrupted builds are run again. */
export async function runBuilds(context: BuildContext, files: UploadFiles, loop: BuildLoop): Promise<void> {
  const { store, log, atOnce = 1 } = context;
  const { signal, wait, wake } = loop;
  const running = new Map<string, Running>();
  const isDue = createTimer(context.clock, SWEEP_EVERY_MS);

  function begin(row: BuildRow): void {
    const slot = freeSlot(running);
    const done = buildOne(context, files, { row, slot, signal })
      .then(wake, (error: unknown) =>
        log.error({ err: error, buildId: row.id }, "build failed, will be retried"),
      )
      .finally(() => running.delete(row.id));
    running.set(row.id, { organizationId: row.organizationId, slot, done });
  }

  while (!signal.aborted) {
    try {
      if (isDue()) await sweepUploads(context, files);
      const row = running.size < atOnce ? await nextBuild(store, running) : undefined;
      if (row) begin(row);
      else await wait();
    } catch (error) {
      log.error({ err: error }, "builds cannot go on just now");
      await wait();
    }
  }
  await Promise.all([...running.values()].map(({ done }) => done));
}

/** Only this process builds, so any other row in `building` was interrupted. */
async function nextBuild(store: Store, running: Map<string, Running>): Promise<BuildRow | undefined> {
  const queue = await store.db
    .selectFrom("builds")
    .select(["id", "organizationId", "status", "createdAt"])
    .where("status", "in", ["building", "pending"])
    .execute();
  const waiting = queue.filter(({ id }) => !running.has(id));
  if (waiting.length === 0) return undefined;
  const started = await store.db
    .selectFrom("builds")
    .select(({ fn }) => ["organizationId", fn.max<number | null>("startedAt").as("at")])
    .groupBy("organizationId")
    .execute();
  const now: BuildsNow = {
    queue: waiting,
    running: [...running.values()],
    lastStartedAt: new Map(started.map(({ organizationId, at }) => [organizationId, at ?? 0])),
  };
  const chosen = chooseBuild(now);
  if (!chosen) return undefined;
  return store.db.selectFrom("builds").selectAll().where("id", "=", chosen.id).executeTakeFirst();
}

/** Returns the lowest free number; builders in different slots are different users. */
function freeSlot(running: Map<string, Running>): number {
  const taken = new Set([...running.values()].map(({ slot }) => slot));
  let slot = 0;
  while (taken.has(slot)) slot += 1;
  return slot;
}

function createTimer(clock: Clock, everyMs: number): () => boolean {
  let lastMs = -Infinity;
  return () => {
    if (clock.monotonicMs() - lastMs <= everyMs) return false;
    lastMs = clock.monotonicMs();
    return true;
  };
}
