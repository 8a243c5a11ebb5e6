import assert from "node:assert/strict";
import { test } from "node:test";
import { preparedList } from "./prepared.ts";
import { openMemoryStore } from "./sqlite.ts";

test("a list of ids finds them all, of whatever length, with few statements", async () => {
  await using store = await openMemoryStore();
  const ids = Array.from({ length: 9 }, (_, at) => `organization-${at}`);
  for (const id of ids)
    await store.db
      .insertInto("organizations")
      .values({ id, name: id, verboseName: id, properties: "{}", createdAt: 0 })
      .execute();
  const named = preparedList((db, asked) =>
    db
      .selectFrom("organizations")
      .select("id")
      .where((is) => (asked.length > 0 ? is("id", "in", asked) : is.lit(false)))
      .orderBy("id"),
  );
  const statements = new Set<string>();
  for (let length = 0; length <= ids.length; length++) {
    const query = named(store.db, ids.slice(0, length)).compile();
    statements.add(query.sql);
    const { rows } = await store.db.executeQuery(query);
    assert.deepEqual(
      rows.map(({ id }) => id),
      ids.slice(0, length),
    );
  }
  assert.equal(statements.size, 6); // none, 1, 2, 4, 8 and 16
  const many = Array.from({ length: 20_000 }, (_, at) => ids[at] ?? `nobody-${at}`); // twice as many would be too many
  assert.equal((await store.db.executeQuery(named(store.db, many))).rows.length, ids.length);
});
