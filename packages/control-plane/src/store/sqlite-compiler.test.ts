import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import { openMemoryStore } from "./sqlite.ts";

test("what SQLite looks at beforehand is in the statement, everything else is a parameter", async () => {
  await using store = await openMemoryStore();
  const { db } = store;
  const agents = db.selectFrom("agents").select("id");
  const compiled = [
    agents.where("agents.state", "!=", "deleted").where("name", "=", "bot").limit(1),
    agents.where("state", "<>", "deleted").limit(20),
    agents.where("state", "=", "live"),
    db.selectFrom("deployments").select("id").where("phase", "=", "Active").where("agentId", "=", "a"),
    db.updateTable("deployments").set({ phase: "Active" }).where("phase", "=", "Draining"),
  ].map((query) => {
    const { sql: text, parameters } = query.compile();
    return { where: text.replace(/^.*? where /, ""), parameters };
  });
  assert.deepEqual(compiled, [
    { where: `"agents"."state" != 'deleted' and "name" = ? limit 1`, parameters: ["bot"] },
    { where: `"state" <> 'deleted' limit ?`, parameters: [20] },
    { where: `"state" = ?`, parameters: ["live"] },
    { where: `"phase" = 'Active' and "agent_id" = ?`, parameters: ["a"] },
    { where: `"phase" = 'Draining'`, parameters: ["Active"] },
  ]);
});

test("what is no word stays a parameter", async () => {
  await using store = await openMemoryStore();
  for (const value of ["it's", "a' or '1'='1", "", "--"]) {
    const query = store.db
      .selectFrom("agents")
      .select("id")
      .where("state", "!=", value as "live");
    assert.deepEqual(query.compile().parameters, [value]);
    assert.deepEqual(await query.execute(), []);
  }
});

test("every partial index asks for what is written out", async () => {
  await using store = await openMemoryStore();
  const { rows } = await sql<{
    sql: string;
  }>`select sql from sqlite_master where sql like '%index%where%'`.execute(store.db);
  const conditions = rows.map(({ sql: text }) => text.replace(/^.* where /, "")).sort();
  // Lists are compared otherwise, and nothing is looked at for them.
  assert.deepEqual(conditions, [
    `"phase" = 'Active'`,
    `"state" <> 'deleted'`,
    "media_port is not null and state not in ('stopped', 'lost')",
  ]);
});
