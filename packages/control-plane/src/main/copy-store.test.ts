import assert from "node:assert/strict";
import { sql } from "kysely";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { loadAuthLibrary, makeAuthTables, type AuthLibrary } from "../identity/auth-library.ts";
import { silentLog } from "@vocalhost/base/log";
import { copyStore } from "@vocalhost/store/copy-store";
import { openPostgresStore } from "@vocalhost/store/postgres";
import { openSqliteStore } from "@vocalhost/store/sqlite";
import type { Store } from "@vocalhost/store/store";
import {
  postgresIsMissing,
  startTestPostgres,
  type TestPostgres,
} from "@vocalhost/store/testing/test-postgres";

const LINES = 1_001; // more than fit into a page, and not a multiple of one

suite("copying a store", { skip: postgresIsMissing() }, () => {
  let folder: string;
  let server: TestPostgres;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "vocalhost-copy-"));
    server = await startTestPostgres();
  });
  after(async () => {
    await server[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  const sqlite = (name: string): Promise<Store> =>
    openSqliteStore({ file: join(folder, name), reserveBytes: 64 * 1024 });

  test("from SQLite to Postgres and back nothing is lost, and people can still sign in", async () => {
    await using original = await sqlite("original.db");
    const people = await peopleOf(original);
    await people.createUser({ email: "ada@example.com", name: "Ada", password: "correct horse" });
    await fill(original);
    await using postgres = await openPostgresStore({ url: await server.newDatabase() });
    await using returned = await sqlite("returned.db");
    for (const [from, to] of [
      [original, postgres],
      [postgres, returned],
    ] as const) {
      await makeAuthTables(to);
      const copied = await copyStore({ from, to });
      assert.equal(copied.find(({ table }) => table === "log_lines")?.rows, LINES);
      const there = await peopleOf(to);
      const found = await there.findUser("ada@example.com");
      assert.ok(found && (await there.isPassword(found.userId, "correct horse")));
    }
    for (const table of ["logLines", "settings", "secretSets", "secretVersions", "leader"] as const)
      assert.deepEqual(
        await returned.db.selectFrom(table).selectAll().execute(),
        await original.db.selectFrom(table).selectAll().execute(),
        table,
      );
  });

  test("what only SQLite keeps does not stop a copy", async () => {
    await using from = await sqlite("with-nul.db");
    await using to = await openPostgresStore({ url: await server.newDatabase() });
    await from.db.insertInto("settings").values({ name: "a", value: "before\0after" }).execute();
    await copyStore({ from, to });
    const { value } = await to.db.selectFrom("settings").selectAll().executeTakeFirstOrThrow();
    assert.equal(value, "before␀after");
  });

  test("a copy out of Postgres is not given up while the other disk takes its time", async () => {
    await using from = await openPostgresStore({ url: await server.newDatabase() });
    await using to = await sqlite("slow.db");
    const limits: unknown[] = [];
    const asked: Store = {
      ...from,
      transaction: (run, options) =>
        from.transaction(async (tx) => {
          const copied = await run(tx);
          limits.push(...(await sql`show idle_in_transaction_session_timeout`.execute(tx)).rows);
          return copied;
        }, options),
    };
    await copyStore({ from: asked, to });
    assert.deepEqual(limits, [{ idleInTransactionSessionTimeout: "0" }]);
  });

  test("a store with data is never copied into", async () => {
    await using from = await sqlite("from.db");
    await using to = await openPostgresStore({ url: await server.newDatabase() });
    await to.db.insertInto("settings").values({ name: "a", value: "theirs" }).execute();
    await from.db.insertInto("settings").values({ name: "a", value: "ours" }).execute();
    await assert.rejects(copyStore({ from, to }), /has data already \(table settings\)/);
    assert.deepEqual(await to.db.selectFrom("settings").selectAll().execute(), [
      { name: "a", value: "theirs" },
    ]);
  });
});

async function peopleOf(store: Store): Promise<AuthLibrary> {
  return loadAuthLibrary({
    ...{ store, baseUrl: "http://localhost", ownOrigins: [], secret: "s".repeat(32), oidc: undefined },
    ...{ log: silentLog, onProviderSignIn: async () => undefined },
  });
}

async function fill({ db }: Store): Promise<void> {
  await db.insertInto("settings").values({ name: "greeting", value: "¿Qué tal? 🦜" }).execute();
  await db.insertInto("leader").values({ id: 1, holder: "host/1/2", epoch: 41, until: 0 }).execute();
  const set = { id: "s", organizationId: "o", name: "keys", region: "us-west", kind: "secret" } as const;
  const times = { createdAt: 1, updatedAt: 2 ** 41 };
  await db
    .insertInto("secretSets")
    .values({ ...set, ...times, status: "ready", errorMessage: null, host: null, currentVersion: 1 })
    .execute();
  await db
    .insertInto("secretVersions")
    .values({ setId: "s", version: 1, wrappedKey: "w", masterKeyId: "k", createdAt: 1 })
    .execute();
  const rows = Array.from({ length: LINES }, (_, position) => ({
    ...{ instanceId: "i", position, organizationId: "o", agentId: "a", deploymentId: "d" },
    ...{ sessionId: null, at: position, nanos: 25, text: `line ${position}` },
  }));
  await db.insertInto("logLines").values(rows).execute();
}
