import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import type { AgentRow, InstanceRow, SessionRow } from "../schema.ts";
import type { Store } from "../store.ts";
import { isUniqueViolation } from "../store-errors.ts";

/** Declares the tests that every store passes. `open` returns an empty one. */
export function storeContract(name: string, open: () => Promise<Store>): void {
  test(`${name}: values come back as they were`, async () => {
    await using store = await open();
    const session = sessionRow({
      startMs: 12.75,
      coldStart: 1,
      createdAt: 1_790_000_000_123,
      timeline: '{"a":"ä\\n€"}',
    });
    await store.db.insertInto("sessions").values(session).execute();
    const found = await store.db.selectFrom("sessions").selectAll().executeTakeFirstOrThrow();
    assert.deepEqual({ ...found }, session);

    await store.db
      .insertInto("usage")
      .values([usage("s1", 40), usage("s2", 2)])
      .execute();
    const sums = await store.db
      .selectFrom("usage")
      .select(({ fn }) => [fn.countAll<number>().as("rows"), fn.sum<number>("seconds").as("seconds")])
      .executeTakeFirstOrThrow();
    assert.deepEqual({ ...sums }, { rows: 2, seconds: 42 });
  });

  test(`${name}: counts of changed rows`, async () => {
    await using store = await open();
    const inserted = await store.db
      .insertInto("agents")
      .values([agentRow("a"), agentRow("b")])
      .executeTakeFirst();
    assert.equal(inserted.numInsertedOrUpdatedRows, 2n);
    const updated = await store.db.updateTable("agents").set({ version: 2 }).executeTakeFirst();
    assert.equal(updated.numUpdatedRows, 2n);
    const returned = await store.db
      .updateTable("agents")
      .set(({ eb }) => ({ version: eb("version", "+", 1) }))
      .where("name", "=", "a")
      .returning(["id", "version"])
      .execute();
    assert.deepEqual(
      returned.map((row) => ({ ...row })),
      [{ id: "agent-a", version: 3 }],
    );
    const ignored = await store.db
      .insertInto("agents")
      .values(agentRow("a"))
      .onConflict((conflict) => conflict.column("id").doNothing())
      .executeTakeFirst();
    assert.equal(ignored.numInsertedOrUpdatedRows, 0n);
    const deleted = await store.db.deleteFrom("agents").where("name", "=", "b").executeTakeFirst();
    assert.equal(deleted.numDeletedRows, 1n);
  });

  test(`${name}: a value of the wrong kind is refused, not bent`, async () => {
    await using store = await open();
    const half = agentRow("a", { minAgents: 1.5 });
    await assert.rejects(store.db.insertInto("agents").values(half).execute());
    const missing = agentRow("a", { region: null as unknown as string });
    await assert.rejects(store.db.insertInto("agents").values(missing).execute());
  });

  test(`${name}: text is ordered by its bytes`, async () => {
    await using store = await open();
    const names = ["b", "a-1", "B", "a", "ä", "a1"];
    await store.db
      .insertInto("agents")
      .values(names.map((agent) => agentRow(agent)))
      .execute();
    const rows = await store.db.selectFrom("agents").select("name").orderBy("name").execute();
    assert.deepEqual(
      rows.map((row) => row.name),
      ["B", "a", "a-1", "a1", "b", "ä"],
    );
  });

  test(`${name}: a transaction that throws leaves nothing, and passes the error on`, async () => {
    await using store = await open();
    const reason = new Error("no");
    await assert.rejects(
      store.transaction(async (tx) => {
        await tx.insertInto("agents").values(agentRow("a")).execute();
        throw reason;
      }),
      (error) => error === reason,
    );
    assert.equal(await countAgents(store), 0);
    await store.transaction((tx) => tx.insertInto("agents").values(agentRow("a")).execute());
    assert.equal(await countAgents(store), 1);
  });

  test(`${name}: a statement that fails inside a transaction fails the whole`, async () => {
    await using store = await open();
    await assert.rejects(
      store.transaction(async (tx) => {
        await tx.insertInto("agents").values(agentRow("a")).execute();
        await sql`select * from nothing_of_that_name`.execute(tx);
      }),
    );
    assert.equal(await countAgents(store), 0);
  });

  test(`${name}: no statement gets between those of a transaction`, async () => {
    await using store = await open();
    await store.db.insertInto("settings").values({ name: "count", value: "0" }).execute();
    const one = (): Promise<void> =>
      store.transaction(async (tx) => {
        const query = tx.selectFrom("settings").selectAll().where("name", "=", "count");
        const row = await store.forUpdate(query).executeTakeFirstOrThrow();
        await Promise.resolve();
        const value = String(Number(row.value) + 1);
        await tx.updateTable("settings").set({ value }).where("name", "=", "count").execute();
      });
    const others = Array.from({ length: 20 }, async (_, index) => {
      await store.db
        .insertInto("settings")
        .values({ name: `other${index}`, value: "" })
        .execute();
    });
    await Promise.all([...Array.from({ length: 30 }, one), ...others]);
    const row = await store.db
      .selectFrom("settings")
      .selectAll()
      .where("name", "=", "count")
      .executeTakeFirst();
    assert.equal(row?.value, "30");
    const { rows } = await store.db
      .selectFrom("settings")
      .select(({ fn }) => fn.countAll<number>().as("rows"))
      .executeTakeFirstOrThrow();
    assert.equal(rows, 21);
  });

  test(`${name}: a write outside is not undone by a rollback it overlaps`, async () => {
    await using store = await open();
    const begun = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const failing = store.transaction(async (tx) => {
      await tx.insertInto("agents").values(agentRow("inside")).execute();
      begun.resolve();
      await goOn.promise;
      throw new Error("no");
    });
    await begun.promise;
    const outside = store.db.insertInto("agents").values(agentRow("outside")).execute();
    goOn.resolve();
    await assert.rejects(failing);
    await outside;
    const rows = await store.db.selectFrom("agents").select("name").execute();
    assert.deepEqual(
      rows.map((row) => row.name),
      ["outside"],
    );
  });

  test(`${name}: twenty claims at once take twenty rows`, async () => {
    await using store = await open();
    const instances = Array.from({ length: 25 }, (_, index) => instanceRow(index));
    await store.db.insertInto("instances").values(instances).execute();
    const claimed = await Promise.all(Array.from({ length: 20 }, () => claim(store)));
    assert.equal(new Set(claimed).size, 20);
    assert.ok(!claimed.includes(undefined));
    const rest = await Promise.all(Array.from({ length: 10 }, () => claim(store)));
    assert.equal(rest.filter((id) => id !== undefined).length, 5);
  });

  test(`${name}: what must be unique is, and says so`, async () => {
    await using store = await open();
    const { db } = store;
    await db.insertInto("agents").values(agentRow("a")).execute();
    const again = db
      .insertInto("agents")
      .values(agentRow("a", { id: "other" }))
      .execute();
    await assert.rejects(again, (error) => isUniqueViolation(error));
    await assert.rejects(db.insertInto("agents").values(agentRow("a")).execute(), isUniqueViolation);
    await db.updateTable("agents").set({ state: "deleted" }).execute();
    await db
      .insertInto("agents")
      .values(agentRow("a", { id: "other" }))
      .execute();
    const elsewhere = agentRow("a", { id: "third", organizationId: "organization-2" });
    await db.insertInto("agents").values(elsewhere).execute();
    assert.equal(isUniqueViolation(new Error("no")), false);
    const inTransaction = store.transaction((tx) => tx.insertInto("agents").values(elsewhere).execute());
    await assert.rejects(inTransaction, isUniqueViolation);
  });

  test(`${name}: one Active deployment per agent`, async () => {
    await using store = await open();
    const insert = (id: string, phase: "Active" | "Retired") =>
      store.db
        .insertInto("deployments")
        .values({ ...deploymentRow, id, phase })
        .execute();
    await insert("1", "Retired");
    await insert("2", "Retired");
    await insert("3", "Active");
    await assert.rejects(insert("4", "Active"), isUniqueViolation);
  });

  test(`${name}: values of a secret go with their set`, async () => {
    await using store = await open();
    const { db } = store;
    const times = { createdAt: 1, updatedAt: 1 };
    await db
      .insertInto("secretSets")
      .values({
        ...times,
        ...{ id: "set", organizationId: "organization", name: "keys", region: "local", kind: "secret" },
        ...{ status: "ready", errorMessage: null, host: null, currentVersion: 1 },
      })
      .execute();
    const version = { setId: "set", version: 1 };
    await db
      .insertInto("secretVersions")
      .values({ ...version, wrappedKey: "", masterKeyId: "", createdAt: 1 })
      .execute();
    await db
      .insertInto("secretValues")
      .values({ ...version, fieldName: "KEY", ciphertext: "" })
      .execute();
    await db.deleteFrom("secretSets").execute();
    assert.deepEqual(await db.selectFrom("secretValues").selectAll().execute(), []);
  });

  test(`${name}: the store refuses to be used past an open transaction`, async () => {
    await using store = await open();
    const message = /use the transaction's handle/;
    await assert.rejects(
      store.transaction(() => countAgents(store)),
      message,
    );
    for (const options of [{}, { limitMs: 60_000 }])
      await assert.rejects(
        store.transaction(() => store.transaction(async () => undefined, options)),
        message,
      );
    let later: Promise<number> | undefined;
    const gate = Promise.withResolvers<void>();
    await store.transaction(async () => {
      later = gate.promise.then(() => countAgents(store));
    });
    gate.resolve();
    assert.equal(await later, 0);
  });

  test(`${name}: some of many transactions at once fail, and the others are written`, async () => {
    await using store = await open();
    await store.db.insertInto("settings").values({ name: "count", value: "0" }).execute();
    const one = (_: unknown, index: number): Promise<string> =>
      store
        .transaction(
          async (tx) => {
            const query = tx.selectFrom("settings").selectAll().where("name", "=", "count");
            const row = await store.forUpdate(query).executeTakeFirstOrThrow();
            const value = String(Number(row.value) + 1);
            await tx.updateTable("settings").set({ value }).where("name", "=", "count").execute();
            if (index % 5 === 0) throw new Error("no");
            if (index % 7 === 0) await sql`select * from nothing_of_that_name`.execute(tx);
          },
          index % 11 === 0 ? {} : { limitMs: 60_000 },
        )
        .then(
          () => "written",
          () => "refused",
        );
    const outcomes = await Promise.all(Array.from({ length: 80 }, one));
    const written = outcomes.filter((outcome) => outcome === "written").length;
    assert.equal(written, 55);
    const rows = await store.db.selectFrom("settings").selectAll().execute();
    assert.deepEqual(plain(rows), [{ name: "count", value: String(written) }]);
  });

  test(`${name}: a thousand parameters`, async () => {
    await using store = await open();
    const rows = Array.from({ length: 500 }, (_, index) => ({ name: `n${index}`, value: "" }));
    await store.db.insertInto("settings").values(rows).execute();
    const names = rows.map((row) => row.name);
    const found = await store.db.selectFrom("settings").select("name").where("name", "in", names).execute();
    assert.equal(found.length, 500);
  });
}

async function claim(store: Store): Promise<string | undefined> {
  return store.transaction(async (tx) => {
    const query = tx
      .selectFrom("instances")
      .select("id")
      .where("state", "=", "ready")
      .orderBy("createdAt")
      .limit(1);
    const row = await store.forUpdate(query, { skipLocked: true }).executeTakeFirst();
    if (!row) return undefined;
    await tx.updateTable("instances").set({ state: "busy" }).where("id", "=", row.id).execute();
    return row.id;
  });
}

/** Rows come without a prototype. */
function plain<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}

export async function countAgents(store: Store): Promise<number> {
  const query = store.db.selectFrom("agents").select(({ fn }) => fn.countAll<number>().as("rows"));
  return (await query.executeTakeFirstOrThrow()).rows;
}

export function agentRow(name: string, change: Partial<AgentRow> = {}): AgentRow {
  return {
    id: `agent-${name}`,
    organizationId: "organization",
    name,
    region: "local",
    state: "live",
    minAgents: 0,
    maxAgents: 10,
    desiredDeploymentId: "deployment",
    reconciledDeploymentId: null,
    version: 1,
    createdAt: 1,
    updatedAt: 1,
    deletedAt: null,
    ...change,
  };
}

const deploymentRow = {
  organizationId: "organization",
  agentId: "agent",
  phaseStartedAt: 1,
  spec: "{}",
  crashes: 0,
  lastCrashAt: null,
  lastExitCode: null,
  crashText: null,
  failureCode: null,
  failureText: null,
  version: 1,
  createdAt: 1,
  updatedAt: 1,
};

export function instanceRow(index: number): InstanceRow {
  return {
    id: `instance-${index}`,
    organizationId: "organization",
    agentId: "agent",
    deploymentId: "deployment",
    state: "ready",
    sessionId: null,
    address: null,
    epoch: 1,
    version: 1,
    createdAt: index,
    stateAt: 1,
    readyAt: 1,
    lastSeenAt: null,
    mediaPort: null,
    exitCode: null,
    cause: "",
  };
}

export function sessionRow(change: Partial<SessionRow>): SessionRow {
  return {
    id: "session",
    organizationId: "organization",
    agentId: "agent",
    deploymentId: null,
    instanceId: null,
    state: "pending",
    transport: "webrtc",
    body: null,
    caller: null,
    filter: null,
    filterState: null,
    filterFramesIn: null,
    filterFramesFiltered: null,
    filterFigures: null,
    coldStart: null,
    apiKeyId: null,
    epoch: 1,
    version: 1,
    createdAt: 1,
    boundAt: null,
    activeAt: null,
    startMs: null,
    maxDurationMs: 7_200_000,
    deadlineAt: null,
    stopRequestedAt: null,
    stopReason: null,
    endedAt: null,
    endReason: null,
    elapsedMs: null,
    observedMs: null,
    lengthCorrectionMs: null,
    seconds: null,
    timeline: "{}",
    region: null,
    regionReason: null,
    regionAsked: null,
    staysInRegion: null,
    ...change,
  };
}

function usage(sessionId: string, seconds: number) {
  return { sessionId, period: "2026-11", organizationId: "organization", agentId: "agent", seconds };
}
