import assert from "node:assert/strict";
import { test } from "node:test";
import type { OrganizationId } from "../identity/principal.ts";
import type { Clock } from "@vocalhost/base/clock";
import type { OutputChunk } from "@vocalhost/drivers/instance-records";
import { silentLog } from "@vocalhost/base/log";
import { eachStore } from "@vocalhost/store/testing/each-store";
import type { Store } from "@vocalhost/store/store";
import { OutputCollector, type OutputSource } from "./collect-output.ts";
import { pruneLogs } from "./prune-logs.ts";
import { readLogs, tailLogs } from "./read-logs.ts";
import type { OutputLimits } from "./take-lines.ts";

const organizationId = "organization" as OrganizationId;
const START_MS = 1_790_000_000_000;

eachStore((open) => {
  test("lines come out as they went in, once, in order", async () => {
    await using store = await open();
    const { collector, driver } = setUp(store);
    driver.print("one", "first", "second");
    driver.print("two", "other");
    await collector.collect([source("one"), source("two")]);
    await collector.collect([source("one"), source("two")]);
    driver.print("one", "third");
    await collector.collect([source("one"), source("two")]);
    assert.deepEqual(await texts(store), ["first", "second", "other", "third"]);
  });

  test("a new collector goes on where the last one stopped", async () => {
    await using store = await open();
    const first = setUp(store);
    first.driver.print("one", "a", "b");
    await first.collector.collect([source("one")]);
    first.driver.print("one", "c");
    const second = setUp(store, { driver: first.driver });
    await second.collector.collect([source("one")]);
    assert.deepEqual(await texts(store), ["a", "b", "c"]);
    assert.deepEqual(first.driver.positions, [0, 4, 4, 6]);
  });

  test("two collectors at once store nothing twice", async () => {
    await using store = await open();
    const first = setUp(store);
    const second = setUp(store, { driver: first.driver });
    first.driver.print("one", "a", "b");
    await Promise.all([first.collector.collect([source("one")]), second.collector.collect([source("one")])]);
    assert.deepEqual(await texts(store), ["a", "b"]);
  });

  test("secrets are hidden before a line is cut or shown", async () => {
    await using store = await open();
    const { collector, driver } = setUp(store);
    driver.print("one", "key=hunter2\u001b[0m", `${"x".repeat(16_380)}hunter2`);
    await collector.collect([source("one")]);
    const [short, long] = await texts(store);
    assert.equal(short, "key=[redacted]␛[0m");
    assert.equal(long, `${"x".repeat(16_380)}[red … (cut, 6 more)`);
  });

  test("a flood is dropped by the second, and one line counts what is missing", async () => {
    await using store = await open();
    const { collector, driver, clock } = setUp(store, { limits: { linesPerSecond: 3 } });
    driver.print("one", "1", "2", "3", "4", "5");
    await collector.collect([source("one")]);
    assert.deepEqual(await texts(store), ["1", "2", "3", "… 2 lines were dropped: more than 3 in a second"]);
    clock.pass(250);
    driver.print("one", "6");
    await collector.collect([source("one")]);
    const dropped = "… 3 lines were dropped: more than 3 in a second";
    assert.deepEqual(await texts(store), ["1", "2", "3", dropped]);
    clock.pass(1_000);
    driver.print("one", "7", "8", "9", "10");
    await collector.collect([source("one")]);
    const again = "… 1 line was dropped: more than 3 in a second";
    assert.deepEqual(await texts(store), ["1", "2", "3", dropped, "7", "8", "9", again]);
    clock.pass(1_000);
    driver.print("two", "undisturbed");
    await collector.collect([source("one"), source("two")]);
    assert.equal((await texts(store)).at(-1), "undisturbed");
  });

  test("a session may write so much and no more, also after a restart; the next begins anew", async () => {
    await using store = await open();
    const limits = { bytesPerSession: 1024 * 1024 };
    const first = setUp(store, { limits });
    const long = "x".repeat(10_000);
    first.driver.print("one", ...Array.from({ length: 110 }, () => long), "short");
    await first.collector.collect([source("one", "session-1")]);
    const second = setUp(store, { limits, driver: first.driver });
    first.driver.print("one", "more");
    await second.collector.collect([source("one", "session-1")]);
    const found = await texts(store);
    assert.equal(found.length, 105);
    assert.equal(found.at(-1), "… 8 lines were dropped: the session has written 1 MiB");
    first.driver.print("one", "hello");
    await second.collector.collect([source("one", "session-2")]);
    assert.equal((await texts(store)).at(-1), "hello");
    const { logs } = await readLogs(store, organizationId, ["agent"], { sessionId: "session-2" });
    assert.deepEqual(
      logs.map(({ log }) => log),
      ["hello"],
    );
  });

  test("draining reads to the end", async () => {
    await using store = await open();
    const { collector, driver } = setUp(store, { chunkLines: 2 });
    driver.print("one", ...Array.from({ length: 100 }, (_, index) => `${index}`));
    await collector.drain(source("one"));
    assert.equal((await texts(store)).length, 100);
  });

  test("an instance that cannot be read does not keep others from being read", async () => {
    await using store = await open();
    const { collector, driver } = setUp(store);
    driver.print("one", "fine");
    driver.broken.add("two");
    await collector.collect([source("one"), source("two")]);
    assert.deepEqual(await texts(store), ["fine"]);
    await assert.rejects(collector.drain(source("two")));
  });

  test("pages, filters and totals", async () => {
    await using store = await open();
    const { collector, driver, clock } = setUp(store);
    for (let second = 0; second < 20; second += 1) {
      driver.print("one", `Line ${second} 100% done_`);
      await collector.collect([source("one", second < 5 ? "session-1" : null)]);
      clock.pass(1_000);
    }
    driver.print("two", "of another deployment");
    await collector.collect([{ ...source("two"), deploymentId: "deployment-2" }]);
    driver.print("three", "of another agent");
    await collector.collect([{ ...source("three"), agentId: "agent-2" }]);

    const page = (query: Parameters<typeof readLogs>[3]) => readLogs(store, organizationId, ["agent"], query);
    const standard = await page({});
    assert.deepEqual(standard.total, { value: 21, relation: "eq" });
    assert.equal(standard.logs.length, 10);
    assert.deepEqual(standard.logs[0], {
      log: "of another deployment",
      timestamp: "2026-09-21T14:13:40.000000000Z",
      deploymentId: "deployment-2",
    });
    const count = async (query: Parameters<typeof readLogs>[3]) => (await page(query)).total.value;
    assert.equal(await count({ deploymentId: "deployment-2" }), 1);
    assert.equal(await count({ sessionId: "session-1" }), 5);
    assert.equal(await count({ query: "LINE 1" }), 11);
    assert.equal(await count({ query: "0% DONE_" }), 20);
    assert.equal(await count({ query: "%" }), 20);
    assert.equal(await count({ query: "\\" }), 0);
    assert.equal(await count({ query: "" }), 21);
    const from = START_MS / 1000;
    assert.equal(await count({ startTime: from + 5, endTime: from + 9 }), 5);
    const third = await page({ order: "asc", limit: 2, offset: 2 });
    assert.deepEqual(
      third.logs.map(({ log }) => log),
      ["Line 2 100% done_", "Line 3 100% done_"],
    );
    const foreign = await readLogs(store, "organization-2" as OrganizationId, ["agent"], {});
    assert.deepEqual(foreign, { total: { value: 0, relation: "eq" }, logs: [] });
  });

  test("an answer holds so many bytes, and what was not counted is said", async () => {
    await using store = await open();
    const { collector, driver } = setUp(store);
    driver.print("one", ...Array.from({ length: 30 }, (_, at) => `${at} ${"x".repeat(1_000)}`), "needle");
    await collector.collect([source("one")]);
    const page = (query: Parameters<typeof readLogs>[3], limits: Parameters<typeof readLogs>[4]) =>
      readLogs(store, organizationId, ["agent"], { limit: 100, order: "asc", ...query }, limits);
    const first = await page({}, { pageBytes: 5_500 });
    assert.deepEqual([first.total, first.logs.length], [{ value: 31, relation: "eq" }, 5]);
    const next = await page({ offset: 5 }, { pageBytes: 5_500 });
    assert.match(next.logs[0]?.log ?? "", /^5 x/);
    assert.equal((await page({}, { pageBytes: 10 })).logs.length, 1);
    assert.deepEqual((await page({}, { countMax: 10 })).total, { value: 31, relation: "gte" });
    assert.deepEqual((await page({ offset: 31 }, {})).logs, []);
    const searched = await page({ query: "XXX", limit: 2, offset: 3 }, { countMax: 10 });
    assert.deepEqual(
      searched.logs.map(({ log }) => log.slice(0, 3)),
      ["3 x", "4 x"],
    );
    assert.deepEqual((await page({ query: "NEEDLE" }, {})).total, { value: 1, relation: "eq" });
  });

  test("a search ends when its time is over, with what it found", async () => {
    await using store = await open();
    const { collector, driver } = setUp(store, { limits: { linesPerSecond: 10_000 } });
    driver.print("one", "needle", ...Array.from({ length: 1_500 }, (_, at) => `${at}`));
    await collector.drain(source("one"));
    const found = await readLogs(store, organizationId, ["agent"], { query: "needle" }, { searchMs: 0 });
    assert.deepEqual(found, { total: { value: 0, relation: "gte" }, logs: [] });
    const patient = await readLogs(store, organizationId, ["agent"], { query: "needle" });
    assert.deepEqual(patient.total, { value: 1, relation: "eq" });
  });

  test("a tail that looks for something does not look at the same lines again and again", async () => {
    await using store = await open();
    const { collector, driver } = setUp(store, { limits: { linesPerSecond: 10_000 } });
    driver.print("one", ...Array.from({ length: 1_500 }, (_, at) => `${at}`));
    await collector.drain(source("one"));
    const watched = { query: "needle" };
    const first = await tailLogs(store, organizationId, ["agent"], watched, { searchMs: 0 });
    assert.deepEqual(first.lines, []);
    driver.print("one", ...Array.from({ length: 1_500 }, (_, at) => `${at}`), "the needle");
    await collector.drain(source("one"));
    const next = { ...watched, afterCursor: first.cursor };
    const second = await tailLogs(store, organizationId, ["agent"], next, { searchMs: 0 });
    assert.notEqual(second.cursor, first.cursor);
    const third = await tailLogs(store, organizationId, ["agent"], {
      ...watched,
      afterCursor: second.cursor,
    });
    assert.deepEqual(
      third.lines.map(({ log }) => log),
      ["the needle"],
    );
  });

  test("a tail gives every line once, in order", async () => {
    await using store = await open();
    const { collector, driver } = setUp(store);
    const empty = await tailLogs(store, organizationId, ["agent"], {});
    assert.deepEqual(empty.lines, []);
    driver.print("one", ...Array.from({ length: 5 }, (_, index) => `a${index}`));
    driver.print("two", ...Array.from({ length: 5 }, (_, index) => `b${index}`));
    await collector.collect([source("one"), source("two")]);
    const seen: string[] = [];
    let { cursor } = empty;
    for (let reads = 0; reads < 8; reads += 1) {
      const tail = await tailLogs(store, organizationId, ["agent"], { afterCursor: cursor, limit: 3 });
      seen.push(...tail.lines.map(({ log }) => log));
      cursor = tail.cursor;
      if (reads === 3) {
        driver.print("one", "later");
        await collector.collect([source("one"), source("two")]);
      }
    }
    assert.deepEqual(seen, ["a0", "a1", "a2", "a3", "a4", "b0", "b1", "b2", "b3", "b4", "later"]);
    const newest = await tailLogs(store, organizationId, ["agent"], { limit: 2 });
    assert.deepEqual(
      newest.lines.map(({ log }) => log),
      ["b4", "later"],
    );
    assert.equal(newest.cursor, cursor);
    const foreign = await tailLogs(store, "organization-2" as OrganizationId, ["agent"], {});
    assert.deepEqual(foreign.lines, []);
    await assert.rejects(tailLogs(store, organizationId, ["agent"], { afterCursor: "1;drop" }), /cursor/);
  });

  test("old lines go, young ones stay", async () => {
    await using store = await open();
    const { collector, driver, clock } = setUp(store, { limits: { linesPerSecond: 10_000 } });
    driver.print("one", ...Array.from({ length: 4_100 }, (_, index) => `${index}`));
    await collector.drain(source("one"));
    clock.pass(60_000);
    driver.print("two", "young");
    await collector.collect([source("two")]);
    const removed = await pruneLogs(store, { nowMs: clock.nowMs(), retentionMs: 30_000 });
    assert.equal(removed, 4_100);
    assert.deepEqual(await texts(store), ["young"]);
    const cursors = await store.db.selectFrom("outputCursors").select("instanceId").execute();
    assert.deepEqual(
      cursors.map((row) => row.instanceId),
      ["two"],
    );
    assert.equal(await pruneLogs(store, { nowMs: clock.nowMs() }), 0);
  });
});

interface SetUp {
  driver?: ReturnType<typeof createDriver>;
  limits?: Partial<OutputLimits>;
  chunkLines?: number;
}

function setUp(store: Store, options: SetUp = {}) {
  const driver = options.driver ?? createDriver(options.chunkLines ?? 1_000);
  const clock = createClock();
  const collector = new OutputCollector({
    store,
    records: driver,
    clock,
    log: silentLog,
    redact: (_organization, _deployment, text) => text.replaceAll("hunter2", "[redacted]"),
    ...(options.limits ? { limits: options.limits } : {}),
  });
  return { driver, clock, collector };
}

function createDriver(chunkLines: number) {
  const output = new Map<string, string>();
  const positions: number[] = [];
  const broken = new Set<string>();
  return {
    positions,
    broken,
    print(id: string, ...lines: string[]): void {
      output.set(id, (output.get(id) ?? "") + lines.map((line) => `${line}\n`).join(""));
    },
    async output(id: string, position: number): Promise<OutputChunk> {
      if (broken.has(id)) throw new Error("cannot be read");
      positions.push(position);
      const lines = [];
      let nextPosition = position;
      for (const text of (output.get(id) ?? "")
        .slice(position)
        .split("\n")
        .slice(0, -1)
        .slice(0, chunkLines)) {
        lines.push({ position: nextPosition, text });
        nextPosition += text.length + 1;
      }
      return { lines, nextPosition };
    },
  };
}

function createClock(): Clock & { pass(ms: number): void } {
  let passedMs = 0;
  return {
    nowMs: () => START_MS + passedMs,
    monotonicMs: () => passedMs,
    sleep: async () => undefined,
    pass(ms) {
      passedMs += ms;
    },
  };
}

function source(id: string, sessionId: string | null = null): OutputSource {
  return { id, organizationId, agentId: "agent", deploymentId: "deployment", sessionId };
}

async function texts(store: Store): Promise<string[]> {
  const { logs } = await readLogs(store, organizationId, ["agent"], { order: "asc", limit: 10_000 });
  return logs.map(({ log }) => log);
}
