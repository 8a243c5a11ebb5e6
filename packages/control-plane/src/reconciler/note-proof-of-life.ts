import { sql } from "kysely";
import type { InstanceStatus } from "@vocalhost/protocol";
import type { InstanceReport } from "../pools/instances/instance-network.ts";
import { asLeader } from "@vocalhost/store/leadership/leader";
import { withMarks } from "../sessions/timeline.ts";
import type { Tx } from "@vocalhost/store/store";
import type { World } from "../sessions/world.ts";
import type { PoolRows } from "./read-pools.ts";

type Noting = Pick<World, "store" | "epoch" | "lastSeen" | "timing">;

interface News {
  id: string;
  heardAt: number;
  session: NonNullable<InstanceStatus["session"]> | undefined;
}

const AT_ONCE = 200; // calls; each is a few values of a statement, and no start waits for the rows of all

/** Notes when instances were last heard, for those that vanish with their records. The state stays, so the version does too. */
export async function noteProofOfLife(
  pools: Pick<PoolRows, "instances">[],
  reports: ReadonlyMap<string, InstanceReport>,
  world: Noting,
): Promise<void> {
  const all = pools
    .flatMap(({ instances }) => instances)
    .filter(({ state }) => state === "busy")
    .flatMap(({ id, sessionId, lastSeenAt }): News[] => {
      const { heardAt, status } = reports.get(id) ?? {};
      const session = status?.session ?? undefined;
      if (session && session.sessionId !== sessionId) return []; // another session's report proves nothing
      // Either way: the clock may have been set back.
      const isNews =
        heardAt !== undefined && Math.abs(heardAt - (lastSeenAt ?? 0)) >= world.timing.heartbeatMs / 2;
      return isNews ? [{ id, heardAt, session }] : [];
    });
  // Always in the same order, so that two transactions with the same rows do not deadlock.
  const news = all.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  for (let from = 0; from < news.length; from += AT_ONCE) {
    const some = news.slice(from, from + AT_ONCE);
    await asLeader(world, async (tx) => {
      await noteInstances(tx, some);
      await noteSessions(
        tx,
        some.flatMap(({ session }) => session ?? []),
        world,
      );
    });
  }
}

async function noteInstances(tx: Tx, news: News[]): Promise<void> {
  const values = news.map(({ id, heardAt }) => sql`(cast(${id} as text), cast(${heardAt} as bigint))`);
  await tx
    .updateTable("instances")
    .from(sql<object>`(values ${sql.join(values)})`.as("news"))
    .set({ lastSeenAt: sql<number>`news.column2` })
    .where(sql<boolean>`instances.id = news.column1`)
    .execute();
}

async function noteSessions(
  tx: Tx,
  told: NonNullable<News["session"]>[],
  { lastSeen }: Pick<World, "lastSeen">,
): Promise<void> {
  if (told.length === 0) return;
  const byId = new Map(told.map((session) => [session.sessionId, session]));
  const rows = await tx
    .selectFrom("sessions")
    .select(["id", "timeline", "startMs", "observedMs"])
    .where("id", "in", [...byId.keys()])
    .where("state", "in", ["active", "stopping"])
    .execute();
  if (rows.length === 0) return;
  const values = rows.map((row) => {
    const { elapsedMs = 0, marks } = byId.get(row.id) ?? {};
    const seenMs = lastSeen.atLeastMs(row);
    const observedMs = seenMs === null ? row.observedMs : Math.round(seenMs);
    return sql`(cast(${row.id} as text), cast(${elapsedMs} as double precision), cast(${withMarks(row, marks)} as text), cast(${observedMs} as bigint))`;
  });
  await tx
    .updateTable("sessions")
    .from(sql<object>`(values ${sql.join(values)})`.as("news"))
    .set({
      elapsedMs: sql<number>`news.column2`,
      timeline: sql<string>`news.column3`,
      observedMs: sql<number | null>`news.column4`,
    })
    .where(sql<boolean>`sessions.id = news.column1`)
    .where("state", "in", ["active", "stopping"])
    .execute();
}
