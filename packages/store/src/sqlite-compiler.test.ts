import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import { openMemoryStore } from "./sqlite.ts";
import { agentRow } from "./testing/store-contract.ts";

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
  await store.db.insertInto("agents").values(agentRow("bot")).execute();
  for (const value of ["it's", "a' or '1'='1", "", "--"]) {
    const query = store.db
      .selectFrom("agents")
      .select("id")
      .where("state", "!=", value as "live");
    assert.deepEqual(query.compile().parameters, [value]);
    assert.deepEqual(await query.execute(), [{ id: "agent-bot" }]);
  }
});

test("whatever a partial index asks for is written out", async () => {
  await using store = await openMemoryStore();
  const indexes = await sql<{
    sql: string;
  }>`select sql from sqlite_master where sql like '%index%where%'`.execute(store.db);
  const conditions = indexes.rows.map(({ sql: text }) => text.replace(/^.* where /, ""));
  const simple = conditions.flatMap((condition) => {
    const [, column, operator, word] = /^"(\w+)" (\S+) '(\w+)'$/.exec(condition) ?? [];
    return column && operator && word ? [{ column, operator, word }] : [];
  });
  assert.ok(simple.length >= 2);
  for (const { column, operator, word } of simple) {
    const query = store.db
      .selectFrom("agents") // of whatever table; it is not run
      .selectAll()
      .where(column as "state", operator as "=", word as "live");
    assert.deepEqual(query.compile().parameters, [], `${column} ${operator} ${word}`);
  }
  // With lists SQLite looks at nothing beforehand, and null is never a parameter.
  assert.deepEqual(
    conditions.filter((condition) => !/^"\w+" \S+ '\w+'$/.test(condition)),
    ["media_port is not null and state not in ('stopped', 'lost')", "sent_at is null and held_at is null"],
  );
});
