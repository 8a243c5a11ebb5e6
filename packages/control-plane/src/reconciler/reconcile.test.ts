import type { InstanceStatus } from "@vocalhost/protocol";
import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { createTestClock } from "@vocalhost/base/testing/test-clock";
import { until } from "../../../../testing/wait.ts";
import type { Preparation } from "../agents/deployments/deploying.ts";
import {
  DriverUnavailableError,
  type Driver,
  type InstanceSpec,
  type SeenInstance,
} from "@vocalhost/drivers/driver";
import type { InstanceRecords } from "@vocalhost/drivers/instance-records";
import type { InstanceNetwork, InstanceReport } from "../pools/instances/instance-network.ts";
import { createQuotas, defaultQuotas } from "../identity/quotas/quotas.ts";
import { silentLog } from "@vocalhost/base/log";
import { createMediaPorts, type PortRange } from "../pools/media-ports.ts";
import { eachStore } from "@vocalhost/store/testing/each-store";
import { createWakeups } from "../pools/wakeups.ts";
import { defaultPendingLimits } from "../sessions/session-settings.ts";
import { createLastSeen } from "../sessions/last-seen.ts";
import { openMemoryStore } from "@vocalhost/store/sqlite";
import type { DeploymentPhase, DeploymentRow, InstanceState } from "@vocalhost/store/schema";
import type { Store } from "@vocalhost/store/store";
import { defaultTiming } from "@vocalhost/base/timing";
import type { World } from "../sessions/world.ts";
import { Reconciler } from "./reconcile.ts";
import { agent, deployment, exited, instance, running, session } from "./testing/check-plan.ts";

test("an object whose output cannot be read keeps no other from being forgotten", async () => {
  await using store = await openMemoryStore();
  const { reconciler, forgotten, told } = setUp(store, {
    objects: [exited("bad", 1), exited("good", 1)],
    beforeForget: async (id) => {
      if (id === "bad") throw new Error("its output is a folder");
    },
  });
  await reconciler.pass();
  await reconciler.pass();
  assert.deepEqual(forgotten, ["good"]);
  assert.deepEqual(told, ["instance cannot be forgotten, will be retried"]);
});

test("what can never be read is forgotten all the same, later", async () => {
  await using store = await openMemoryStore();
  const { reconciler, forgotten, clock } = setUp(store, {
    objects: [exited("bad", 1)],
    beforeForget: () => Promise.reject(new Error("its output is a folder")),
  });
  await reconciler.pass();
  clock.monotonic += 61_000;
  await reconciler.pass();
  assert.deepEqual(forgotten, ["bad"]);
});

test("an object that cannot be removed keeps no other from being removed", async () => {
  await using store = await openMemoryStore();
  const { reconciler, forgotten } = setUp(store, {
    objects: [exited("stuck", 1), exited("good", 1)],
    cannotForget: "stuck",
  });
  await reconciler.pass();
  assert.deepEqual(forgotten, ["good"]);
});

test("records that cannot be removed keep no object, and are tried again", async () => {
  await using store = await openMemoryStore();
  const tried: string[] = [];
  const { reconciler, forgotten, told } = setUp(store, {
    objects: [exited("closed", 1), exited("good", 1)],
    removeRecords: async (id) => {
      tried.push(id);
      if (id === "closed" && tried.filter((each) => each === id).length < 3) throw new Error("closed folder");
    },
  });
  await reconciler.pass();
  assert.deepEqual(forgotten.sort(), ["closed", "good"]);
  for (let pass = 0; pass < 4; pass += 1) await reconciler.pass();
  assert.deepEqual(tried.sort(), ["closed", "closed", "closed", "good"]);
  assert.deepEqual(told, ["instance cannot be forgotten, will be retried"]);
});

test("what follows a pass cannot fail it", async () => {
  await using store = await openMemoryStore();
  const { reconciler, told } = setUp(store, {
    objects: [],
    passed: () => Promise.reject(new Error("no samples")),
  });
  await reconciler.pass();
  assert.deepEqual(told, ["what follows a pass failed"]);
});

test("an instance that takes long to be made holds up no other, and is neither made twice nor given up", async () => {
  await using store = await openMemoryStore();
  await store.db.insertInto("leader").values({ id: 1, holder: "we", epoch: 1, until: 0 }).execute();
  await addRequested(store, "slow");
  await addRequested(store, "quick");
  const engine = Promise.withResolvers<void>();
  const made: string[] = [];
  const { reconciler } = setUp(store, {
    objects: [],
    create: async (id) => {
      made.push(id);
      if (id === "slow") await engine.promise;
    },
  });
  const states = async () => {
    const rows = await store.db.selectFrom("instances").select(["id", "state"]).execute();
    return Object.fromEntries(rows.map(({ id, state }) => [id, state]));
  };
  await reconciler.pass();
  await until(async () => (await states())["quick"] === "starting", 5_000, "the quick one");
  // It is not wanted any more, but whether there is something to end is not known before it is made.
  await store.db
    .updateTable("instances")
    .set({ state: "draining", version: 2 })
    .where("id", "=", "slow")
    .execute();
  await reconciler.pass();
  assert.equal((await states())["slow"], "draining");
  assert.equal(made.filter((id) => id === "slow").length, 1);
  engine.resolve();
  await reconciler.madeAll();
  await reconciler.pass();
  assert.equal((await states())["slow"], "stopped");
});

test("an organisation whose instances take up every place leaves the next one to others", async () => {
  await using store = await openMemoryStore();
  await store.db.insertInto("leader").values({ id: 1, holder: "we", epoch: 1, until: 0 }).execute();
  for (let index = 0; index < 40; index++) await addRequested(store, `crowd-${index}`);
  const made: string[] = [];
  const engines: (() => void)[] = [];
  const { reconciler } = setUp(store, {
    objects: [],
    create: async (id) => {
      made.push(id);
      const engine = Promise.withResolvers<void>();
      engines.push(engine.resolve);
      await engine.promise;
    },
  });
  await reconciler.pass();
  await until(() => made.length === 16, 5_000, "as many as are made at once");
  await addRequested(store, "late", "other");
  await reconciler.pass();
  assert.equal(made.length, 16);
  engines[0]?.();
  await until(
    async () => {
      await reconciler.pass();
      return made.length === 17;
    },
    5_000,
    "the place that is free again",
  );
  assert.equal(made[16], "late");
  for (const end of engines) end();
  await reconciler.madeAll();
});

test("what there is no media port for is asked for at its time, not again and again", async () => {
  await using store = await openMemoryStore();
  await store.db.insertInto("leader").values({ id: 1, holder: "we", epoch: 1, until: 0 }).execute();
  const names = { name: "org", verboseName: "org", properties: "{}" };
  await store.db
    .insertInto("organizations")
    .values({ id: "org", ...names, createdAt: 1 })
    .execute();
  await addRequested(store, "first");
  await store.db.updateTable("instances").set({ mediaPort: 7 }).execute();
  await store.db.updateTable("agents").set({ minAgents: 2 }).execute();
  const objects: SeenInstance[] = [];
  const ended = new AbortController();
  let passes = 0;
  const { reconciler, clock } = setUp(store, {
    objects,
    create: async (id) => void objects.push(running(id)),
    range: { first: 7, last: 7 },
    passed: async () => void (++passes === 50 && ended.abort()),
  });
  let rested = 0;
  clock.sleep = async () => void (++rested === 2 && ended.abort());
  await reconciler.run(ended.signal);
  assert.equal(rested, 2, `${passes} passes`);
});

test("a driver that is away is told of once, and again when it is away for another reason or once more", async () => {
  await using store = await openMemoryStore();
  const ended = new AbortController();
  const outcomes = ["refused", "refused", "refused", "too slow", "", "refused", "refused"];
  const { reconciler, clock, told } = setUp(store, {
    objects: [],
    async seen() {
      const why = outcomes.shift();
      if (outcomes.length === 0) ended.abort();
      if (why) throw new Error(why);
    },
  });
  clock.sleep = async () => undefined;
  await reconciler.run(ended.signal);
  assert.deepEqual(told, Array(3).fill("reconciling failed, will be retried"));
});

test("an object that cannot be ended is tried in every pass, and is no reason for another pass at once", async () => {
  await using store = await openMemoryStore();
  const ended = new AbortController();
  let passes = 0;
  const { reconciler, clock, destroyed } = setUp(store, {
    objects: [running("stuck")],
    cannotEnd: "stuck",
    passed: async () => void (++passes === 50 && ended.abort()),
  });
  let rested = 0;
  clock.sleep = async (_ms, signal) => {
    await setImmediate(); // orders of the pass come to their end, and wake the loop
    if (!signal?.aborted && ++rested === 2) ended.abort();
  };
  await reconciler.run(ended.signal);
  assert.equal(rested, 2, `${passes} passes`);
  assert.deepEqual(destroyed, ["stuck", "stuck"]);
});

test("the driver hears of an agent that is deleted, once its instances are gone", async () => {
  await using store = await openMemoryStore();
  await store.db.insertInto("leader").values({ id: 1, holder: "we", epoch: 1, until: 0 }).execute();
  await addRequested(store, "parrot");
  await store.db.updateTable("agents").set({ state: "deleting" }).execute();
  const { reconciler, forgotten } = setUp(store, { objects: [] });
  await reconciler.pass();
  assert.deepEqual(forgotten, []);
  for (const _ of ["drained", "gone"]) await reconciler.pass();
  assert.deepEqual(forgotten, ["agent parrot"]);
});

test("telling of another session's end does not hide how long one's own lasts", async () => {
  await using store = await openMemoryStore();
  await store.db.insertInto("leader").values({ id: 1, holder: "we", epoch: 1, until: 0 }).execute();
  await addRequested(store, "liar");
  const busy = { state: "busy", sessionId: "own" } as const;
  await store.db.updateTable("instances").set(busy).execute();
  const own = session({ id: "own", agentId: "liar", instanceId: "liar", state: "active", startMs: 0 });
  await store.db.insertInto("sessions").values(own).execute();
  const exit = { sessionId: "other", reason: "idle", elapsedMs: 1, endedAtMs: 1, marks: {} };
  const { reconciler, clock, lastSeen } = setUp(store, {
    objects: [running("liar")],
    told: { sessionId: "other", state: "ended", elapsedMs: 1, marks: {}, exit },
  });
  await reconciler.pass();
  clock.monotonic += 7_000;
  await reconciler.pass();
  assert.equal(lastSeen.atLeastMs(own), 7_000);
});

test("while instances cannot be listed, their own reports count and nothing else is concluded", async () => {
  await using store = await openMemoryStore();
  await store.db.insertInto("leader").values({ id: 1, holder: "we", epoch: 1, until: 0 }).execute();
  for (const id of ["over", "silent"]) {
    await addRequested(store, id);
    const busy = { state: "busy", sessionId: id, address: `${id}:1` } as const;
    await store.db.updateTable("instances").set(busy).where("id", "=", id).execute();
    const row = session({ id, agentId: id, instanceId: id, state: "active", startMs: 0, boundAt: 1 });
    await store.db.insertInto("sessions").values(row).execute();
  }
  await addRequested(store, "wanted");
  const exit = { sessionId: "over", reason: "bot-finished", elapsedMs: 1, endedAtMs: 1, marks: {} };
  let isAway = true;
  const made: string[] = [];
  const watched: string[] = [];
  const { reconciler, forgotten, destroyed } = setUp(store, {
    objects: [running("over"), running("silent")],
    seen: () => (isAway ? Promise.reject(new DriverUnavailableError("no cluster")) : Promise.resolve()),
    create: async (id) => void made.push(id),
    told: { sessionId: "over", state: "ended", elapsedMs: 1, marks: {}, exit },
    watched: (ids) => void ((watched.length = 0), watched.push(...ids)),
  });
  const stateOf = async (table: "sessions" | "instances"): Promise<string[]> =>
    (await store.db.selectFrom(table).select("state").orderBy("id").execute()).map(({ state }) => state);
  for (const _ of ["once", "again"]) await assert.rejects(reconciler.pass(), /no cluster/);
  assert.deepEqual(watched, ["over", "silent"], "an instance without a listener ends itself");
  assert.deepEqual(await stateOf("sessions"), ["ended", "active"]);
  assert.deepEqual(await stateOf("instances"), ["busy", "busy", "requested"]);
  assert.deepEqual([made, destroyed, forgotten], [[], [], []]);
  isAway = false;
  await reconciler.pass();
  await reconciler.madeAll();
  assert.deepEqual(await stateOf("instances"), ["draining", "busy", "starting"]);
  assert.deepEqual(made, ["wanted"]);
});

eachStore((open) => {
  const ODD = "one\0\u001b[2Jtwo\nthree\ud800";
  const INERT = "one␀␛[2Jtwo\nthree\ufffd";

  async function fill(
    store: Store,
    {
      phase = "Active",
      state = "requested",
      crashes = 0,
    }: { phase?: DeploymentPhase; state?: InstanceState; crashes?: number },
  ): Promise<void> {
    await store.db.insertInto("leader").values({ id: 1, holder: "we", epoch: 1, until: 0 }).execute();
    await addRequested(store, "bot");
    const lastCrashAt = createTestClock().nowMs();
    await store.db.updateTable("deployments").set({ phase, crashes, lastCrashAt }).execute();
    await store.db.updateTable("instances").set({ state }).execute();
  }

  test("whatever a crashing bot printed is written down, and harmless", async () => {
    await using store = await open();
    await fill(store, { phase: "Validating", crashes: 4, state: "starting" });
    const printed = exited("bot", 1);
    Object.assign(printed.exit ?? {}, { lastOutput: `${ODD}\nError: ${ODD}` });
    const { reconciler, told } = setUp(store, { objects: [printed] });
    for (const _ of ["crashed", "failed"]) await reconciler.pass();
    assert.deepEqual(told, []);
    const { phase, crashText, failureText } = await only(store);
    assert.equal(crashText, `It exited with code 1.\n${INERT}\nError: ${INERT}`);
    assert.equal(phase, "Failed");
    assert.match(failureText ?? "", /crashed 5 times before it was ready: Error: one␀␛\[2Jtwo$/);
  });

  test("whatever a driver says of one that it cannot make is written down", async () => {
    await using store = await open();
    await fill(store, {});
    const { reconciler, told } = setUp(store, { objects: [], create: () => Promise.reject(new Error(ODD)) });
    await reconciler.pass();
    await reconciler.madeAll();
    assert.deepEqual(told, []);
    assert.equal((await only(store)).crashText, INERT);
  });

  test("whatever is wrong with what is deployed is written down", async () => {
    await using store = await open();
    await fill(store, { phase: "Creating", state: "stopped" });
    const outcomes: Preparation[] = [
      { state: "working", text: ODD },
      { state: "refused", code: "UNKNOWN_ERROR", text: ODD },
    ];
    const { reconciler, told } = setUp(store, { objects: [], prepare: () => outcomes.shift() });
    await reconciler.pass();
    assert.equal((await only(store)).progressText, INERT);
    await reconciler.pass();
    assert.deepEqual(told, []);
    assert.equal((await only(store)).failureText, INERT);
  });

  const only = ({ db }: Store): Promise<DeploymentRow> =>
    db.selectFrom("deployments").selectAll().executeTakeFirstOrThrow();
});

/** An agent with one instance that is to be made, all of the same name. */
async function addRequested({ db }: Store, id: string, organizationId?: string): Promise<void> {
  const owner = organizationId === undefined ? {} : { organizationId };
  const row = { ...agent({}), ...owner, id, name: id, desiredDeploymentId: id, reconciledDeploymentId: id };
  await db.insertInto("agents").values(row).execute();
  await db
    .insertInto("deployments")
    .values({ ...deployment({}), ...owner, id, agentId: id })
    .execute();
  const wanted = instance({ id, agentId: id, deploymentId: id, state: "requested", epoch: 1 });
  await db
    .insertInto("instances")
    .values({ ...wanted, ...owner })
    .execute();
}

interface SetUp {
  objects: SeenInstance[];
  /** Before the driver says what there is. */
  seen?(): Promise<void>;
  range?: PortRange;
  create?(id: string): Promise<void>;
  prepare?(): Preparation | undefined;
  cannotForget?: string;
  cannotEnd?: string;
  removeRecords?(id: string): Promise<void>;
  beforeForget?(id: string): Promise<void>;
  passed?(): Promise<void>;
  /** The session in every instance's report. */
  told?: InstanceStatus["session"];
  watched?(ids: string[]): void;
}

function setUp(store: Store, options: SetUp) {
  const clock = createTestClock();
  const forgotten: string[] = [];
  const destroyed: string[] = [];
  const told: string[] = [];
  const driver: Partial<Driver> = {
    list: async () => {
      await options.seen?.();
      return options.objects.filter(({ id }) => !forgotten.includes(id));
    },
    create: async ({ id }) => options.create?.(id),
    forget: async (id) => {
      if (id === options.cannotForget) throw new Error("Instance still runs");
      forgotten.push(id);
    },
    destroy: async (id) => {
      destroyed.push(id);
      if (id === options.cannotEnd) throw new Error("The engine refuses");
    },
    forgetAgent: async (id) => void forgotten.push(`agent ${id}`),
  };
  const records: Partial<InstanceRecords> = { remove: async (id) => options.removeRecords?.(id) };
  const { told: toldSession } = options;
  const reportOf = (instanceId: string): InstanceReport | undefined =>
    toldSession
      ? {
          status: { instanceId, epoch: 1, ready: false, cpuMs: 0, memoryBytes: 0, session: toldSession },
          ...{ heardAtMs: clock.monotonicMs(), heardAt: clock.nowMs() },
        }
      : undefined;
  const lastSeen = createLastSeen();
  const network: Partial<InstanceNetwork> = {
    watch: (targets) => options.watched?.(targets.map(({ id }) => id)),
    report: reportOf,
    missed: () => 0,
  };
  const world: World = {
    store,
    driver: driver as Driver,
    records: records as InstanceRecords,
    network: network as InstanceNetwork,
    clock,
    newId: () => "id",
    timing: defaultTiming,
    pendingLimits: defaultPendingLimits,
    quotasOf: createQuotas(defaultQuotas),
    mediaPorts: createMediaPorts({ range: options.range, log: silentLog }),
    lastSeen,
    failpoint: () => undefined,
    log: { ...silentLog, error: (_fields, sentence) => void told.push(sentence) },
    hasVoiceEngine: false,
    epoch: 1,
  };
  const reconciler = new Reconciler({
    world,
    wakeups: createWakeups(clock),
    bootsAtOnce: 1,
    redact: async (_instance, text) => text,
    deploying: {
      prepare: async () => options.prepare?.(),
      specOf: async ({ id }) => ({ id }) as InstanceSpec,
    },
    ...(options.beforeForget ? { beforeForget: options.beforeForget } : {}),
    ...(options.passed ? { passed: options.passed } : {}),
  });
  return { reconciler, forgotten, destroyed, told, clock, lastSeen };
}
