// Postgres cancels a statement after half a minute, which would stop all pruning after it.
import assert from "node:assert/strict";
import { CompiledQuery, type KyselyPlugin, type RootOperationNode, sql } from "kysely";
import { test } from "node:test";
import { openPostgresStore } from "@vocalhost/store/postgres";
import type { Db } from "@vocalhost/store/store";
import { postgresIsMissing, startTestPostgres } from "@vocalhost/store/testing/test-postgres";
import { pruneHistory } from "./prune-history.ts";
import { DAY_MS, defaultRetention } from "./retention.ts";

const NOW_MS = Date.UTC(2026, 10, 16);

test(
  "what to forget is found without comparing every row with every other",
  { skip: postgresIsMissing() },
  async () => {
    // With so little memory, a few thousand rows behave like millions.
    await using server = await startTestPostgres({ settings: { work_mem: "64kB" } });
    await using store = await openPostgresStore({ url: server.url });
    await fill(store.db);
    const { noting, nodes } = createNoting();
    await pruneHistory(
      { ...store, search: store.search.withPlugin(noting) },
      { nowMs: NOW_MS, retention: defaultRetention },
    );
    const plans = await Promise.all(nodes.map((node) => planOf(store.search, node)));
    assert.ok(plans.some((plan) => plan.includes("deployments")));
    assert.deepEqual(
      plans.filter((plan) => /NOT \(SubPlan/.test(plan)), // a hashed subplan is named differently
      [],
    );
  },
);

function createNoting(): { noting: KyselyPlugin; nodes: RootOperationNode[] } {
  const nodes: RootOperationNode[] = [];
  const noting: KyselyPlugin = {
    transformQuery({ node }) {
      nodes.push(node);
      return node;
    },
    transformResult: async ({ result }) => result,
  };
  return { noting, nodes };
}

async function planOf(db: Db, node: RootOperationNode): Promise<string> {
  const { sql: text, parameters } = db.getExecutor().compileQuery(node, { queryId: "plan" });
  const { rows } = await db.executeQuery<Record<string, string>>(
    CompiledQuery.raw(`explain ${text}`, [...parameters]),
  );
  return rows.flatMap((row) => Object.values(row)).join("\n");
}

async function fill(db: Db): Promise<void> {
  const old = sql.lit(NOW_MS - 100 * DAY_MS);
  const now = sql.lit(NOW_MS);
  await sql`
    insert into agents (id, organization_id, name, region, state, min_agents, max_agents, desired_deployment_id, version,
      created_at, updated_at, deleted_at)
    select 'agent' || n, 'o', 'name' || n, 'here', case when n < 10 then 'live' else 'deleted' end, 0, 1, '', 1,
      ${old}, ${old}, case when n < 10 then null else ${old} end from generate_series(0, 99) n`.execute(db);
  await sql`
    insert into deployments (id, organization_id, agent_id, phase, phase_started_at, spec, crashes, version, created_at,
      updated_at)
    select 'deployment' || n, 'o', 'agent' || n % 100, 'Retired', ${old}, '{}', 0, 1, ${old} + n, ${old}
    from generate_series(0, 999) n`.execute(db);
  await sql`
    insert into instances (id, organization_id, agent_id, deployment_id, state, epoch, version, created_at, state_at, cause)
    select 'instance' || n, 'o', 'agent' || n % 10, 'deployment' || n % 10, 'stopped', 1, 1, ${now}, ${now}, ''
    from generate_series(0, 4999) n`.execute(db);
  await sql`
    insert into sessions (id, organization_id, agent_id, state, transport, epoch, version, created_at, max_duration_ms,
      ended_at, timeline)
    select 'session' || n, 'o', 'agent' || n % 10, 'ended', 'webrtc', 1, 1, ${now}, 1, ${now}, '{}'
    from generate_series(0, 4999) n`.execute(db);
  await sql`
    insert into usage (session_id, period, organization_id, agent_id, seconds, started_at)
    select 'session' || n, '2026-11', 'o', 'agent' || n % 10, 1, ${now} from generate_series(0, 4999) n`.execute(
    db,
  );
  await sql`analyze`.execute(db);
}
