import type { OrganizationId } from "../../identity/principal.ts";
import type { Store } from "@vocalhost/store/store";
import type { Period } from "./periods.ts";
import { FREE_MINUTES, priceOf, toExactUsd, toInvoiceUsd } from "./price.ts";
import { readCorrections } from "./usage-pages.ts";

export interface UsageReport {
  period: Period;
  /** Frozen: what is found later is a correction. */
  closed: boolean;
  seconds: number;
  minutes: number;
  freeMinutes: number;
  billableMinutes: number;
  amountMicroDollars: number;
  /** Exact: `0.0015`. */
  amountUsd: string;
  /** In whole cents, half up: `0.00`. */
  invoiceUsd: string;
  sessions: number;
  agents: AgentUsage[];
  corrections: UsageCorrection[];
}

export interface AgentUsage {
  agent: string;
  seconds: number;
  sessions: number;
}

/** Found after the month was closed; not in its sums. */
export interface UsageCorrection {
  sessionId: string;
  seconds: number;
  foundAt: number;
}

export async function readUsage(
  store: Store,
  organizationId: OrganizationId,
  period: Period,
): Promise<UsageReport> {
  const agents = await store.search
    .selectFrom("usage")
    .leftJoin("agents", "agents.id", "usage.agentId")
    .select(["usage.agentId", "agents.name"])
    .select((eb) => [
      eb.fn.sum<number | string>("usage.seconds").as("seconds"),
      eb.fn.countAll<number | string>().as("sessions"),
    ])
    .where("usage.organizationId", "=", organizationId)
    .where("usage.period", "=", period)
    .groupBy(["usage.agentId", "agents.name"])
    .orderBy("agents.name")
    .execute();
  const closed = await store.search
    .selectFrom("periods")
    .select("closedAt")
    .where("organizationId", "=", organizationId)
    .where("period", "=", period)
    .executeTakeFirst();
  // Postgres gives sums of whole numbers as text.
  const rows = agents.map((row) => ({
    agent: row.name ?? row.agentId,
    seconds: Number(row.seconds),
    sessions: Number(row.sessions),
  }));
  const seconds = rows.reduce((sum, row) => sum + row.seconds, 0);
  const price = priceOf(seconds);
  return {
    period,
    closed: closed !== undefined,
    seconds,
    minutes: price.minutes,
    freeMinutes: FREE_MINUTES,
    billableMinutes: price.billableMinutes,
    amountMicroDollars: price.microDollars,
    amountUsd: toExactUsd(price.microDollars),
    invoiceUsd: toInvoiceUsd(price.cents),
    sessions: rows.reduce((sum, row) => sum + row.sessions, 0),
    agents: rows,
    corrections: await readCorrections(store, organizationId, period).execute(),
  };
}
