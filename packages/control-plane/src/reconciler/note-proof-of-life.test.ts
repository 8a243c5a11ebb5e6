import assert from "node:assert/strict";
import { test } from "node:test";
import { createLastSeen } from "../sessions/last-seen.ts";
import { newSessionRow } from "../sessions/session-row.ts";
import { prepareOrganization } from "../sessions/testing/warm-pools.ts";
import type { InstanceRow, SessionRow } from "@vocalhost/store/schema";
import type { Store } from "@vocalhost/store/store";
import { eachStore } from "@vocalhost/store/testing/each-store";
import { defaultTiming } from "@vocalhost/base/timing";
import { noteProofOfLife } from "./note-proof-of-life.ts";
import { agent, instance } from "./testing/check-plan.ts";

const HEARD_AT = 50_000;
const ELAPSED_MS = 1_234.5;
const CALLS = 250;

eachStore((open) => {
  test("what instances tell of their calls is written down, as long as these go on", async () => {
    await using store = await open();
    await prepareOrganization(store);
    const instances = await add(store, [
      { id: "one", state: "active", timeline: '{"claimedMs":3}', observedMs: 700 },
      { id: "over", state: "ended", elapsedMs: 5, observedMs: 6 },
    ]);
    await note(store, instances);
    assert.deepEqual(await read(store, "one"), {
      elapsedMs: ELAPSED_MS,
      observedMs: 700,
      timeline: { claimedMs: 3, botEnteredMs: 12 },
    });
    assert.deepEqual(await read(store, "over"), { elapsedMs: 5, observedMs: 6, timeline: {} });
    const seen = await store.db.selectFrom("instances").select("lastSeenAt").execute();
    assert.deepEqual(seen, [{ lastSeenAt: HEARD_AT }, { lastSeenAt: HEARD_AT }]);
  });

  test("an instance that tells of a session that is not its own proves nothing", async () => {
    await using store = await open();
    await prepareOrganization(store);
    const [liar, victim] = await add(store, [
      { id: "own", state: "active", elapsedMs: 5 },
      { id: "other", state: "active", elapsedMs: 6, timeline: "{}" },
    ]);
    assert.ok(liar && victim);
    await note(store, [liar], () => victim.sessionId ?? "");
    assert.equal((await read(store, "other")).elapsedMs, 6);
    assert.deepEqual((await read(store, "other")).timeline, {});
    assert.equal((await read(store, "own")).elapsedMs, 5);
    const seen = await store.db.selectFrom("instances").select("lastSeenAt").execute();
    assert.deepEqual(seen, [{ lastSeenAt: null }, { lastSeenAt: null }]);
  });

  test("hundreds of calls take a few statements", async () => {
    await using store = await open();
    await prepareOrganization(store);
    const rows = await add(
      store,
      Array.from({ length: CALLS }, (_, index) => ({ id: `s${index}`, state: "active" })),
    );
    let transactions = 0;
    const counting: Store = {
      ...store,
      transaction: (run) => {
        transactions += 1;
        return store.transaction(run);
      },
    };
    await note(counting, rows);
    assert.equal(transactions, 2);
    const { count } = await store.db
      .selectFrom("sessions")
      .select((is) => is.fn.countAll<number>().as("count"))
      .where("elapsedMs", "=", ELAPSED_MS)
      .executeTakeFirstOrThrow();
    assert.equal(count, CALLS);
  });
});

/** Sessions; gives the instances that have them. */
async function add(
  store: Store,
  changes: (Pick<SessionRow, "id" | "state"> & Partial<SessionRow>)[],
): Promise<InstanceRow[]> {
  const request = { transport: "webrtc" as const, apiKeyId: null };
  const sessions = changes.map((change) => ({
    ...newSessionRow({ request, agent: agent({}), sessionId: change.id, nowMs: 1 }),
    ...change,
  }));
  await store.db.insertInto("sessions").values(sessions).execute();
  const instances = sessions.map(({ id }) => instance({ id: `of-${id}`, state: "busy", sessionId: id }));
  await store.db.insertInto("instances").values(instances).execute();
  return instances;
}

function note(
  store: Store,
  instances: InstanceRow[],
  toldSession = ({ sessionId }: InstanceRow): string => sessionId ?? "",
): Promise<void> {
  const reports = new Map(
    instances.map((row) => {
      const { id } = row;
      const session = { sessionId: toldSession(row), state: "running" as const, elapsedMs: ELAPSED_MS };
      const status = {
        ...{ instanceId: id, epoch: 1, ready: false, cpuMs: 0, memoryBytes: 0 },
        session: { ...session, marks: { botEntered: 12 }, exit: null },
      };
      return [id, { status, heardAt: HEARD_AT, heardAtMs: 0 }];
    }),
  );
  const world = { store, epoch: 1, lastSeen: createLastSeen(), timing: defaultTiming };
  return noteProofOfLife([{ instances }], reports, world);
}

async function read(store: Store, id: string) {
  const { timeline, ...row } = await store.db
    .selectFrom("sessions")
    .select(["elapsedMs", "observedMs", "timeline"])
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
  return { ...row, timeline: JSON.parse(timeline) as unknown };
}
