// What is asked often must not cost more with every session that ever was, or with every agent there is: SQLite says how it
// would find the answer.
import assert from "node:assert/strict";
import { test } from "node:test";
import { readFacts } from "../agents/read-facts.ts";
import type { OrganizationId } from "../auth/principal.ts";
import { silentLog } from "../log.ts";
import { createQuotas, defaultQuotas } from "../quotas/quotas.ts";
import { readPools } from "../reconciler/read-pools.ts";
import { NO_PREFERENCE } from "../sessions/choose-region.ts";
import { agentsForSocket } from "../sessions/doors/pending-socket.ts";
import { readForStart } from "../sessions/read-for-start.ts";
import { createRoomCloser } from "../sessions/session-rooms.ts";
import { createTestClock } from "../testing/test-clock.ts";
import { createStore } from "./create-store.ts";
import { migrate } from "./migrate.ts";
import { createSqliteDialect } from "./sqlite-dialect.ts";
import { openSqliteEngine } from "./sqlite-engine.ts";
import { linkInPlace } from "./sqlite-link.ts";
import type { Store } from "./store.ts";

const ORGANIZATION = "00000000-0000-4000-8000-000000000001" as OrganizationId;
// By what few sessions have; all others of an organisation or of a state are the past.
const FINDS_FEW = /\((?:id=\?|organization_id=\? AND state=\?|state=\?|bound_at)/;

const asked: Record<string, (store: Store) => Promise<unknown>> = {
  "an agent's record": ({ db }) => readFacts(db, { organizationId: ORGANIZATION, name: "bot" }),
  "records of all agents": ({ db }) => readFacts(db, { organizationId: ORGANIZATION }),
  "a look at the pools": ({ db }) =>
    readPools(db, { nowMs: 2, demandMs: 1, quotasOf: createQuotas(defaultQuotas) }),
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
  "a start": (store) =>
    store.transaction((tx) =>
      readForStart(tx, store, {
        ...{ organizationId: ORGANIZATION, agentName: "bot", apiKeyId: "key", concurrency: 1 },
        idempotency: { key: "once", parametersHash: "" },
      }),
    ),
  "a start over a socket": ({ db }) =>
    db.executeQuery(
      agentsForSocket(db, { agentName: "bot", organizationId: ORGANIZATION, region: NO_PREFERENCE }),
    ),
  "a socket without a start": ({ db }) =>
    db.executeQuery(
      agentsForSocket(db, { agentName: "bot", organizationName: "main", region: NO_PREFERENCE }),
    ),
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

/** How each answer would be found. */
async function plansOf(ask: (store: Store) => Promise<unknown>): Promise<string[]> {
  const engine = openSqliteEngine({ memory: true });
  const link = linkInPlace(engine);
  const statements: string[] = [];
  const dialect = createSqliteDialect({
    ...link,
    execute(all) {
      statements.push(...all.map(({ sql }) => sql));
      return link.execute(all);
    },
  });
  await using store = createStore({ name: "sqlite", dialect, isDiskFull: () => false });
  await migrate(store);
  statements.length = 0;
  await ask(store);
  return statements.filter((sql) => sql.startsWith("select")).flatMap((sql) => planOf(engine, sql));
}

function planOf(engine: ReturnType<typeof openSqliteEngine>, sql: string): string[] {
  const [outcome] = engine.execute([{ sql: `explain query plan ${sql}`, parameters: [], where: "reader" }]);
  return (outcome?.rows ?? []).map(({ detail }) => String(detail));
}
