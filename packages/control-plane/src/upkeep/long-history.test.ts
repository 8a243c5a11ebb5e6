// The cost of frequent queries must not grow with old sessions or with all agents; the test reads SQLite's query
// plans.
import { SessionListQuery } from "@vocalhost/protocol";
import assert from "node:assert/strict";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { readFacts } from "../agents/read-facts.ts";
import type { OrganizationId } from "../identity/principal.ts";
import { listSessions } from "../api/read-sessions.ts";
import { closePeriods } from "../usage/ledger/close-periods.ts";
import { readUsageDays } from "../usage/ledger/read-usage-days.ts";
import { readUsage } from "../usage/ledger/read-usage.ts";
import { usageCsv } from "../usage/ledger/usage-csv.ts";
import { silentLog } from "@vocalhost/base/log";
import { createQuotas, defaultQuotas } from "../identity/quotas/quotas.ts";
import { readPools } from "../reconciler/read-pools.ts";
import { pruneHistory } from "./retention/prune-history.ts";
import { defaultRetention } from "./retention/retention.ts";
import { agentsToStart } from "../sessions/bind-session.ts";
import { NO_PREFERENCE } from "../sessions/choose-region.ts";
import { requireConcurrency } from "../sessions/concurrency.ts";
import { agentsForSocket } from "../sessions/doors/pending-socket.ts";
import { createRoomCloser } from "../sessions/session-rooms.ts";
import { agentRow } from "@vocalhost/store/testing/store-contract";
import { createTestClock } from "@vocalhost/base/testing/test-clock";
import { createStore } from "@vocalhost/store/create-store";
import { migrate } from "@vocalhost/store/migrate";
import { createSqliteDialect } from "@vocalhost/store/sqlite";
import { openSqliteEngine } from "@vocalhost/store/sqlite-engine";
import { linkInPlace } from "@vocalhost/store/sqlite-link";
import type { Store } from "@vocalhost/store/store";

const ORGANIZATION = "00000000-0000-4000-8000-000000000001" as OrganizationId;
// Matches indexes with few sessions per value. Other indexes of an organisation or a state cover the whole history.
const FINDS_FEW = /\((?:id=\?|organization_id=\? AND state=\?|state=\?|bound_at)/;

const asked: Record<string, (store: Store) => Promise<unknown>> = {
  "an agent's record": ({ db }) => readFacts(db, { organizationId: ORGANIZATION, name: "bot" }),
  "records of all agents": ({ db }) => readFacts(db, { organizationId: ORGANIZATION }),
  "a look at the pools": ({ db }) =>
    readPools(db, { nowMs: 2, demandMs: 1, quotasOf: createQuotas(defaultQuotas) }),
  "a month to close": async (store) => {
    const names = { name: "main", verboseName: "main", properties: "{}" };
    await store.db
      .insertInto("organizations")
      .values({ id: ORGANIZATION, ...names, createdAt: 0 })
      .execute();
    await closePeriods(store, { nowMs: Date.parse("2026-02-02"), failpoint: () => undefined });
  },
  "a key's sessions": ({ db }) => requireConcurrency(db, { apiKeyId: "key", concurrency: 1 }),
  "rooms to close": (store) =>
    createRoomCloser({
      world: { store, clock: createTestClock(0), epoch: 1, log: silentLog },
      close: async () => undefined,
    }).pass(),
};

for (const [what, ask] of Object.entries(asked))
  test(`without looking at the past: ${what}`, async () => {
    const plans = await plansOf(ask);
    const ofSessions = plans.filter((step) => /^(?:SCAN|SEARCH) sessions\b/.test(step));
    assert.ok(ofSessions.length > 0, plans.join("\n"));
    assert.deepEqual(
      ofSessions.filter((step) => !FINDS_FEW.test(step)),
      [],
    );
  });

const starts: Record<string, (store: Store) => Promise<unknown>> = {
  "a start": ({ db }) => agentsToStart(db, { agentName: "bot", organizationId: ORGANIZATION }).execute(),
  "a start over a socket": ({ db }) =>
    agentsForSocket(db, {
      ...{ agentName: "bot", organizationId: ORGANIZATION, region: NO_PREFERENCE },
    }).execute(),
  "a socket without a start": ({ db }) =>
    agentsForSocket(db, {
      ...{ agentName: "bot", organizationName: "main", region: NO_PREFERENCE },
    }).execute(),
};

for (const [what, ask] of Object.entries(starts))
  test(`without looking at other agents: ${what}`, async () => {
    const plans = await plansOf(ask);
    const ofAgents = plans.filter((step) => /^(?:SCAN|SEARCH) agents\b/.test(step));
    assert.ok(ofAgents.length > 0, plans.join("\n"));
    assert.deepEqual(
      ofAgents.filter((step) => !step.endsWith("(organization_id=? AND name=?)")),
      [],
    );
  });

const wholeMonths: Record<string, (store: Store) => Promise<unknown>> = {
  "sessions of an agent": (store) =>
    listSessions(store, ORGANIZATION, { name: "bot", query: SessionListQuery.parse({}) }),
  "usage of a month": (store) => readUsage(store, ORGANIZATION, "2026-01"),
  "usage by day": (store) => readUsageDays(store, ORGANIZATION, { period: "2026-01", nowMs: 1 }),
  "months to close": (store) =>
    closePeriods(store, { nowMs: Date.parse("2026-02-02"), failpoint: () => undefined }),
  "sessions and agents to forget": (store) =>
    pruneHistory(store, { nowMs: Date.parse("2026-02-02"), retention: defaultRetention }),
  "usage as a table": (store) => text(usageCsv(store, ORGANIZATION, "2026-01")),
};

for (const [what, ask] of Object.entries(wholeMonths))
  test(`without holding up those who write: ${what}`, async () => {
    const { asked, searched } = await statementsOf(ask);
    const ofMany = (sql: string): boolean => /(?:from|join) "(?:sessions|usage|corrections)"/.test(sql);
    assert.ok(
      searched.some(({ sql }) => ofMany(sql)),
      "it looks at many rows",
    );
    assert.deepEqual(
      asked.filter(({ sql }) => ofMany(sql)),
      [],
    );
  });

test("a page of a month's table begins where the one before ended", async () => {
  const { searched } = await statementsOf((store) => text(usageCsv(store, ORGANIZATION, "2026-01")));
  const plans = searched.flatMap(({ plan }) => plan);
  const ofMany = plans.filter((step) => /^(?:SCAN|SEARCH) (?:sessions|usage)\b/.test(step));
  const index =
    /USING (?:COVERING )?INDEX (?:usage_in_order|sessions_organization) \(organization_id=\? AND|\((?:id)=\?\)/;
  assert.ok(ofMany.length > 0, plans.join("\n"));
  assert.deepEqual(
    ofMany.filter((step) => !index.test(step)),
    [],
  );
});

/** Returns the query plans of all statements. */
async function plansOf(ask: (store: Store) => Promise<unknown>): Promise<string[]> {
  const { asked } = await statementsOf(ask);
  return asked.filter(({ sql }) => sql.startsWith("select")).flatMap(({ plan }) => plan);
}

interface Asked {
  sql: string;
  plan: string[];
}

/** Records the statements of the writing connection and of the one for long reads. */
async function statementsOf(
  ask: (store: Store) => Promise<unknown>,
): Promise<{ asked: Asked[]; searched: Asked[] }> {
  const engine = openSqliteEngine({ memory: true });
  const link = linkInPlace(engine);
  const noting = (statements: string[]) =>
    createSqliteDialect({
      ...link,
      execute(statement) {
        statements.push(statement.sql);
        return link.execute(statement);
      },
      close: async () => undefined,
    });
  const [asked, searched]: [string[], string[]] = [[], []];
  const dialects = { dialect: noting(asked), searchDialect: noting(searched) };
  await using store = createStore({ name: "sqlite", ...dialects, isDiskFull: () => false });
  await migrate(store);
  await store.db
    .insertInto("agents")
    .values(agentRow("bot", { organizationId: ORGANIZATION }))
    .execute();
  asked.length = 0;
  await ask(store);
  const planned = (statements: string[]): Asked[] =>
    statements.map((sql) => ({ sql, plan: planOf(engine, sql) }));
  return { asked: planned(asked), searched: planned(searched) };
}

function planOf(engine: ReturnType<typeof openSqliteEngine>, sql: string): string[] {
  const { rows } = engine.execute({ sql: `explain query plan ${sql}`, parameters: [], where: "reader" });
  return rows.map(({ detail }) => String(detail));
}
