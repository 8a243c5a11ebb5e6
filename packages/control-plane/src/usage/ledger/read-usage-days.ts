import { sql } from "kysely";
import type { OrganizationId } from "../../identity/principal.ts";
import type { Store } from "@vocalhost/store/store";
import { DAY_MS, periodEndMs, periodStartMs, type Period } from "./periods.ts";
import { priceOf, toExactUsd, toInvoiceUsd } from "./price.ts";
import { isFilterBilled } from "./usage.ts";

export interface Used {
  sessions: number;
  activeSeconds: number;
  filterSeconds: number;
}

export interface UsageDaysReport extends Used {
  days: (Used & { day: string })[];
  agents: (Used & { agent: string })[];
  projection: UsageProjection | null;
}

export interface UsageProjection {
  filterMinutes: number;
  billableMinutes: number;
  amountUsd: string;
  invoiceUsd: string;
}

/** Sums up sessions that have ended, by UTC day and by agent. The ledger decides what is billed; this shows why. */
export async function readUsageDays(
  store: Store,
  organizationId: OrganizationId,
  { period, nowMs }: { period: Period; nowMs: number },
): Promise<UsageDaysReport> {
  const firstDay = periodStartMs(period) / DAY_MS;
  const days = Array.from({ length: periodEndMs(period) / DAY_MS - firstDay }, (_, index) => ({
    day: new Date((firstDay + index) * DAY_MS).toISOString().slice(0, 10),
    ...nothing(),
  }));
  const agents = new Map<string, Used & { agent: string }>();
  for (const row of await readParts(store, organizationId, period)) {
    const part = { filter: isFilterBilled(row), agent: row.name ?? row.agentId };
    const sessions = Number(row.sessions);
    const onFirst = Number(row.onFirst);
    add(Number(row.day), { ...part, seconds: onFirst, sessions });
    add(Number(row.day) + 1, { ...part, seconds: Number(row.seconds) - onFirst, sessions: 0 });
  }
  const total = days.reduce((sum, day) => plus(sum, day), nothing());
  return {
    ...total,
    days,
    agents: [...agents.values()].sort((one, other) => other.activeSeconds - one.activeSeconds),
    projection: projectUsage(total.filterSeconds, { period, nowMs }),
  };

  function add(
    day: number,
    part: { agent: string; filter: boolean; seconds: number; sessions: number },
  ): void {
    const place = days[day - firstDay];
    if (!place || (part.seconds === 0 && part.sessions === 0)) return;
    const used = {
      sessions: part.sessions,
      activeSeconds: part.seconds,
      filterSeconds: part.filter ? part.seconds : 0,
    };
    days[day - firstDay] = { ...place, ...plus(place, used) };
    // By its name: one that was deleted and made again goes on.
    const before = agents.get(part.agent) ?? { agent: part.agent, ...nothing() };
    agents.set(part.agent, { ...before, ...plus(before, used) });
  }
}

/** Projects a month's usage at the present rate; null for a month that is over or has not begun. */
export function projectUsage(
  filterSeconds: number,
  { period, nowMs }: { period: Period; nowMs: number },
): UsageProjection | null {
  const startMs = periodStartMs(period);
  const endMs = periodEndMs(period);
  if (nowMs <= startMs || nowMs >= endMs) return null;
  const price = priceOf(Math.round((filterSeconds * (endMs - startMs)) / (nowMs - startMs)));
  return {
    filterMinutes: price.minutes,
    billableMinutes: price.billableMinutes,
    amountUsd: toExactUsd(price.microDollars),
    invoiceUsd: toInvoiceUsd(price.cents),
  };
}

/** Sums by the day a session began on. No session is longer than a day, so the rest was spent on the next one. */
async function readParts(store: Store, organizationId: OrganizationId, period: Period) {
  const day = sql<number | string>`${sql.ref("sessions.boundAt")} / ${sql.lit(DAY_MS)}`;
  const leftMs = sql`((${day} + 1) * ${sql.lit(DAY_MS)} - ${sql.ref("sessions.boundAt")})`;
  const seconds = sql.ref("sessions.seconds");
  const onFirst = sql`case when ${seconds} * 1000 <= ${leftMs} then ${seconds} else ${leftMs} / 1000 end`;
  return await store.search
    .selectFrom("sessions")
    .leftJoin("agents", "agents.id", "sessions.agentId")
    .select(["sessions.agentId", "agents.name", "sessions.filter", "sessions.filterState", day.as("day")])
    .select((eb) => [
      eb.fn.countAll<number | string>().as("sessions"),
      eb.fn.sum<number | string>("sessions.seconds").as("seconds"),
      sql<number | string>`sum(${onFirst})`.as("onFirst"),
    ])
    .where("sessions.organizationId", "=", organizationId)
    // Made at most a day before it was bound: this is what there is an index for.
    .where("sessions.createdAt", ">=", periodStartMs(period) - 2 * DAY_MS)
    .where("sessions.createdAt", "<", periodEndMs(period))
    .where("sessions.boundAt", ">=", periodStartMs(period) - DAY_MS)
    .where("sessions.boundAt", "<", periodEndMs(period))
    .where("sessions.seconds", "is not", null)
    .where("sessions.startMs", "is not", null) // a session that never became active is none
    .groupBy(["sessions.agentId", "agents.name", "sessions.filter", "sessions.filterState", day])
    .execute();
}

function nothing(): Used {
  return { sessions: 0, activeSeconds: 0, filterSeconds: 0 };
}

function plus(one: Used, other: Used): Used {
  return {
    sessions: one.sessions + other.sessions,
    activeSeconds: one.activeSeconds + other.activeSeconds,
    filterSeconds: one.filterSeconds + other.filterSeconds,
  };
}
