import { sql } from "kysely";
import type { Failpoint } from "@vocalhost/base/failpoints";
import type { SessionState } from "@vocalhost/store/schema";
import type { Store, Tx } from "@vocalhost/store/store";
import type { Period } from "./periods.ts";
import { mayClose, periodBefore, periodEndMs, periodOf } from "./periods.ts";

const openStates: SessionState[] = ["pending", "starting", "active", "stopping"];

export interface ClosedPeriod {
  organizationId: string;
  period: Period;
}

/** Freezes every month that is over and whose sessions are. Answers what it closed; call it as often as you like. */
export async function closePeriods(
  store: Store,
  { nowMs, failpoint }: { nowMs: number; failpoint: Failpoint },
): Promise<ClosedPeriod[]> {
  const closed: ClosedPeriod[] = [];
  for (const candidate of await candidates(store, nowMs)) {
    failpoint("period.closed.before");
    if (await store.transaction((tx) => close(tx, candidate, nowMs))) closed.push(candidate);
    failpoint("period.closed.after");
  }
  return closed;
}

/** Returns last month for every organisation, and earlier months that an idle service left open. */
async function candidates(store: Store, nowMs: number): Promise<ClosedPeriod[]> {
  const last = periodBefore(periodOf(nowMs));
  const organizations = await store.db.selectFrom("organizations").select(["id", "createdAt"]).execute();
  const used = await store.search
    .selectFrom("usage")
    .select(["organizationId", "period"])
    .distinct()
    .execute();
  const closed = await store.db.selectFrom("periods").select(["organizationId", "period"]).execute();
  const all = [
    ...used,
    ...organizations
      .filter((organization) => organization.createdAt < periodEndMs(last))
      .map((organization) => ({ organizationId: organization.id, period: last })),
  ];
  const seen = new Set(closed.map(nameOf));
  return all.filter((candidate) => {
    if (!mayClose(candidate.period, nowMs) || seen.has(nameOf(candidate))) return false;
    seen.add(nameOf(candidate));
    return true;
  });
}

async function close(tx: Tx, { organizationId, period }: ClosedPeriod, nowMs: number): Promise<boolean> {
  const open = await tx
    .selectFrom("sessions")
    .select("id")
    .where("organizationId", "=", organizationId)
    .where("state", "in", openStates)
    // Few sessions are open. `+ 0` keeps SQLite from looking at all that began before.
    .where(sql<number>`created_at + 0`, "<", periodEndMs(period))
    .limit(1)
    .executeTakeFirst();
  if (open) return false;
  await tx
    .insertInto("periods")
    .values({ organizationId, period, closedAt: nowMs })
    .onConflict((conflict) => conflict.columns(["organizationId", "period"]).doNothing())
    .execute();
  return true;
}

function nameOf({ organizationId, period }: ClosedPeriod): string {
  return `${organizationId} ${period}`;
}
