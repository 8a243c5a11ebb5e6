import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Worker } from "node:worker_threads";
import { sql } from "kysely";
import { until } from "../../../testing/wait.ts";
import { migrate } from "./migrate.ts";
import { silentLog } from "@vocalhost/base/log";
import { allMigrations } from "./migrations/all-migrations.ts";
import type { Migration } from "./migrations/migration.ts";
import { openPostgresStore } from "./postgres.ts";
import { openMemoryStore, openSqliteStore } from "./sqlite.ts";
import { agentRow, countAgents, storeContract } from "./testing/store-contract.ts";
import type { Store } from "./store.ts";
import { postgresIsMissing, startTestPostgres, type TestPostgres } from "./testing/test-postgres.ts";

let folder: string;
let files = 0;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "vocalhost-store-"));
});
after(() => rm(folder, { recursive: true, force: true }));

storeContract("memory", openMemoryStore);
storeContract("sqlite in a thread", () => openSqliteStore({ file: newFile(), ...small }));
storeContract("sqlite in place", () => openSqliteStore({ file: newFile(), ...small, inThread: false }));

suite("postgres", { skip: postgresIsMissing() }, () => {
  let server: TestPostgres;
  before(async () => {
    server = await startTestPostgres();
  });
  after(() => server[Symbol.asyncDispose]());

  storeContract("postgres", async () => openPostgresStore({ url: await server.newDatabase() }));

  test("postgres: migrations", async () => {
    const url = await server.newDatabase();
    await checkMigrations(() => openPostgresStore({ url }));
  });

  test("postgres: several programs start at once", async () => {
    const url = await server.newDatabase();
    const stores = await Promise.all([1, 2, 3].map(() => openPostgresStore({ url })));
    assert.deepEqual(await Promise.all(stores.map(countAgents)), [0, 0, 0]);
    for (const store of stores) await store[Symbol.asyncDispose]();
  });

  test("postgres: a change of the schema may take longer than other statements", async () => {
    const url = await server.newDatabase();
    await using other = await openPostgresStore({ url });
    const isBegun = Promise.withResolvers<void>();
    const changing = other.transaction(async (tx) => {
      await migrate({ ...other, transaction: (run) => run(tx) }); // holds the lock until the end
      isBegun.resolve();
      await setTimeout(2_500);
    });
    await isBegun.promise;
    const told: string[] = [];
    const log = { ...silentLog, info: (_fields: object, sentence: string) => void told.push(sentence) };
    await using store = await openPostgresStore({ url, statementMs: 1_000, log });
    await changing;
    assert.match(told.join(), /^waiting for another controller/);
    assert.equal(await countAgents(store), 0);
    await assert.rejects(sql`select pg_sleep(5)`.execute(store.db), isUnavailable);
  });

  test("postgres: a search waits for other searches", async () => {
    await using store = await openPostgresStore({ url: await server.newDatabase() });
    const searching = [1, 2].map(() => sql`select pg_sleep(5.5)`.execute(store.search));
    const [rows] = await Promise.all([store.search.selectFrom("agents").selectAll().execute(), ...searching]);
    assert.deepEqual(rows, []);
  });

  test("postgres: a restart of the server fails statements, not the store", async () => {
    await using store = await openPostgresStore({ url: await server.newDatabase() });
    const begun = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const cut = store.transaction(async (tx) => {
      await tx.insertInto("agents").values(agentRow("cut")).execute();
      begun.resolve();
      await goOn.promise;
      await tx.insertInto("agents").values(agentRow("cut2")).execute();
    });
    await begun.promise;
    await store.db.insertInto("agents").values(agentRow("kept")).execute();
    await server.stop("immediate");
    goOn.resolve();
    await assert.rejects(cut, isUnavailable);
    await assert.rejects(countAgents(store), isUnavailable);
    await server.start();
    await until(
      async () => (await countAgents(store).catch(() => 0)) === 1,
      20_000,
      "store that answers again",
    );
    await store.transaction((tx) => tx.insertInto("agents").values(agentRow("new")).execute());
    assert.equal(await countAgents(store), 2);
  });

  test("postgres: no server", async () => {
    await assert.rejects(openPostgresStore({ url: "postgres://postgres@127.0.0.1:1/none" }), isUnavailable);
  });
});

test("sqlite: migrations", async () => {
  const file = newFile();
  await checkMigrations(() => openSqliteStore({ file, ...small }));
});

test("sqlite: what is not a database is refused", async () => {
  const file = join(folder, "notes.txt");
  await writeFile(file, "notes about this and that\n".repeat(1000));
  await assert.rejects(openSqliteStore({ file }), /is not a database of this service/);
  await assert.rejects(openSqliteStore({ file, inThread: false }), /is not a database of this service/);
});

test("sqlite: reads pass by an open transaction and do not see it", async () => {
  await using store = await openSqliteStore({ file: newFile(), ...small });
  await store.transaction(async (tx) => {
    await tx.insertInto("agents").values(agentRow("a")).execute();
    assert.equal(await outside(() => countAgents(store)), 0);
  });
  assert.equal(await countAgents(store), 1);
});

test("sqlite: a thread that dies takes its transaction with it, and the next statement starts another", async () => {
  const started = Promise.withResolvers<Worker>();
  process.once("worker", (worker) => started.resolve(worker));
  await using store = await openSqliteStore({ file: newFile(), ...small });
  await store.db.insertInto("agents").values(agentRow("kept")).execute();
  const cut = store.transaction(async (tx) => {
    await tx.insertInto("agents").values(agentRow("lost")).execute();
    await (await started.promise).terminate();
    await tx.insertInto("agents").values(agentRow("lost too")).execute();
  });
  await assert.rejects(cut, /The transaction is over/);
  assert.equal(await countAgents(store), 1);
  await store.db.insertInto("agents").values(agentRow("new")).execute();
  assert.equal(await countAgents(store), 2);
});

test("sqlite: a long read holds up no other statement", async () => {
  await using store = await openSqliteStore({ file: newFile(), ...small });
  const told: string[] = [];
  const count = sql`with recursive n(i) as (select 1 union all select i + 1 from n where i < 3000000)`;
  const long = store.search
    .selectFrom(sql<{ sum: number }>`(${count} select sum(i) as sum from n)`.as("counted"))
    .select("sum")
    .execute()
    .then(() => told.push("read"));
  await store.db.insertInto("agents").values(agentRow("a")).execute();
  assert.equal(await countAgents(store), 1);
  told.push("written");
  await long;
  assert.deepEqual(told, ["written", "read"]);
  await assert.rejects(store.search.insertInto("agents").values(agentRow("b")).execute(), /readonly/);
});

test("sqlite: only its owner may read the file", async () => {
  const file = newFile();
  await using store = await openSqliteStore({ file, ...small });
  await store.db.insertInto("agents").values(agentRow("a")).execute();
  for (const name of [file, `${file}-wal`]) assert.equal((await stat(name)).mode & 0o777, 0o600);
});

test("memory: nothing leaves the turn of the event loop", async () => {
  let turns = 0;
  const timer = setImmediate(function count() {
    turns += 1;
    setImmediate(count).unref();
  });
  await using store = await openMemoryStore();
  await store.transaction((tx) => tx.insertInto("agents").values(agentRow("a")).execute());
  await Promise.all(
    [1, 2, 3].map(() => store.transaction((tx) => tx.selectFrom("agents").selectAll().execute())),
  );
  assert.equal(await countAgents(store), 1);
  assert.equal(turns, 0);
  clearImmediate(timer);
});

test("memory: stores share nothing", async () => {
  await using one = await openMemoryStore();
  await using other = await openMemoryStore();
  await one.db.insertInto("agents").values(agentRow("a")).execute();
  assert.equal(await countAgents(other), 0);
});

for (const { inThread, writers } of [
  { inThread: true, writers: 8 },
  { inThread: false, writers: 1 },
])
  test(`sqlite ${inThread ? "in a thread" : "in place"}: kill -9 loses nothing acknowledged`, async () => {
    const file = newFile();
    for (let round = 0; round < 3; round += 1) {
      const acknowledged = await writeUntilKilled(file, {
        ...{ inThread, writers, round },
        killAfter: 40 + round * 33,
      });
      await using store = await openSqliteStore({ file, ...small });
      const rows = await store.db
        .selectFrom("agents")
        .select(["id"])
        .where("region", "=", `round${round}`)
        .execute();
      const stored = new Set(rows.map((row) => row.id));
      assert.ok(acknowledged.length >= 40);
      assert.deepEqual(
        acknowledged.filter((id) => !stored.has(id)),
        [],
      );
      assert.ok(stored.size <= acknowledged.length + writers);
      const counter = await store.db
        .selectFrom("settings")
        .selectAll()
        .where("name", "=", `round${round}`)
        .execute();
      assert.equal(Number(counter[0]?.value), stored.size, "both tables of each transaction, or neither");
    }
  });

async function checkMigrations(open: () => Promise<Store>): Promise<void> {
  const next: Migration = {
    version: allMigrations.length + 1,
    name: "one more",
    up: (tx) => tx.schema.alterTable("agents").addColumn("mood", "text").execute(),
  };
  const broken: Migration = {
    version: next.version + 1,
    name: "broken",
    async up(tx) {
      await tx.schema.createTable("half").addColumn("id", "text").execute();
      throw new Error("half way");
    },
  };
  {
    await using store = await open();
    await store.db.insertInto("agents").values(agentRow("a")).execute();
    await assert.rejects(migrate(store, { migrations: [...allMigrations, next, broken] }), /half way/);
    const tables = await store.db.introspection.getTables();
    assert.ok(!tables.some(({ name }) => name === "half"));
    assert.ok(!tables.find(({ name }) => name === "agents")?.columns.some(({ name }) => name === "mood"));
  }
  {
    await using store = await open();
    await migrate(store);
    assert.equal(await countAgents(store), 1);
    await assert.rejects(
      migrate(store, { migrations: [{ ...allMigrations[0]!, name: "another" }] }),
      /does not know/,
    );
    const told: string[] = [];
    const log = { ...silentLog, info: (_fields: object, sentence: string) => void told.push(sentence) };
    for (let start = 0; start < 2; start += 1)
      await migrate(store, { migrations: [...allMigrations, next], log });
    assert.match(
      told.join(),
      /^bringing the database up to this version[^,]*, and nothing starts meanwhile$/,
    );
  }
  const known = allMigrations.length;
  await assert.rejects(
    open(),
    new RegExp(`newer program \\(schema ${known + 1}, this one knows ${known}\\)`),
  );
}

async function writeUntilKilled(
  file: string,
  options: { inThread: boolean; writers: number; round: number; killAfter: number },
): Promise<string[]> {
  const script = fileURLToPath(new URL("./testing/store-writer.ts", import.meta.url));
  const args = [file, String(options.inThread), `round${options.round}`, String(options.writers)];
  const child = spawn(process.execPath, [...process.execArgv.filter(isCondition), script, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
    if (text.split("\n").length > options.killAfter) child.kill("SIGKILL");
  });
  await once(child, "close");
  return text.split("\n").slice(0, -1);
}

function isCondition(argument: string): boolean {
  return argument.startsWith("--conditions");
}

/** Runs outside the transaction's async context. */
function outside<T>(run: () => Promise<T>): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  queue.push(() => void run().then(resolve, reject));
  return promise;
}
const queue: (() => void)[] = [];
setInterval(() => queue.shift()?.(), 1).unref();

const small = { reserveBytes: 64 * 1024 };

function newFile(): string {
  files += 1;
  return join(folder, `${files}`, "store.db");
}

function isUnavailable(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "SERVICE_UNAVAILABLE";
}
