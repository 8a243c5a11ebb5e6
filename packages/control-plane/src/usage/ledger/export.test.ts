import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { createFailpoint } from "@vocalhost/base/failpoints";
import { createMetrics } from "../metrics/metrics.ts";
import type { Store } from "@vocalhost/store/store";
import { eachStore } from "@vocalhost/store/testing/each-store";
import { createTestClock } from "@vocalhost/base/testing/test-clock";
import { exportUsage, type ExportRound } from "./export.ts";

const ROUND_MS = 5_000;
const MINUTE_MS = 60_000;
const BAD = 500; // as many as go out in a round
const failpoint = createFailpoint(undefined);

eachStore((open) => {
  test("rows that are refused hold up no others, and are tried again until they are taken, once each", async () => {
    await using store = await open();
    await using receiver = await startReceiver((id) => (id.startsWith("bad") ? 422 : 204));
    await enter(
      store,
      Array.from({ length: BAD }, (_, index) => `bad-${index}`),
      1,
    );
    await enter(store, ["good-1", "good-2"], 2);
    const exporting = createExporting(store, receiver.url);

    await exporting.rounds(3);
    assert.deepEqual(receiver.taken(), ["good-1", "good-2"]);
    const [{ failed }] = await exporting.rounds(1);
    assert.equal(failed, BAD, "those that wait are still told of");
    assert.deepEqual(await figuresOf(store), { waiting: 0, refused: BAD, held: 0 });

    // While many come due again, what is new goes first.
    receiver.answer = (id) => (id.startsWith("bad") ? 403 : 204);
    exporting.clock.now += 30 * MINUTE_MS;
    await enter(store, ["good-3"], exporting.clock.now);
    await exporting.rounds(1);
    assert.deepEqual(receiver.taken(), ["good-1", "good-2", "good-3"]);

    receiver.answer = () => 204;
    exporting.clock.now += 30 * MINUTE_MS;
    const last = await exporting.rounds(3);
    assert.equal(receiver.taken().length, BAD + 3);
    assert.equal(new Set(receiver.taken()).size, BAD + 3);
    assert.deepEqual(last.at(-1), { sent: 0, held: 0, failed: 0 });
    assert.deepEqual(await figuresOf(store), { waiting: 0, refused: 0, held: 0 });
  });

  test("what is refused for a reason is tried less and less often", async () => {
    await using store = await open();
    await using receiver = await startReceiver(() => 422);
    await enter(store, ["bad"], 1);
    const exporting = createExporting(store, receiver.url);
    await exporting.rounds((60 * MINUTE_MS) / ROUND_MS);
    assert.ok(
      receiver.ids.length >= 4 && receiver.ids.length <= 12,
      `${receiver.ids.length} times in an hour`,
    );
  });

  test("a row at which the receiver fails is not the one that all others wait for", async () => {
    await using store = await open();
    await using receiver = await startReceiver((id) => (id === "poison" ? 500 : 204));
    await enter(store, ["poison"], 1);
    await enter(store, ["good-1", "good-2"], 2);
    const exporting = createExporting(store, receiver.url);
    const [first] = await exporting.rounds(1);
    assert.deepEqual(first, { sent: 0, held: 0, failed: 1, problem: "the receiver answers 500" });
    await exporting.rounds(1);
    assert.deepEqual(receiver.taken(), ["good-1", "good-2"]);
    receiver.answer = () => 204;
    exporting.clock.now += MINUTE_MS;
    await exporting.rounds(1);
    assert.deepEqual(receiver.taken(), ["good-1", "good-2", "poison"]);
  });

  test("a clock that was ahead does not keep what failed meanwhile", async () => {
    await using store = await open();
    await using receiver = await startReceiver(() => 500);
    await enter(store, ["late"], 1);
    const exporting = createExporting(store, receiver.url);
    const aheadMs = 120 * MINUTE_MS;
    exporting.clock.now += aheadMs;
    await exporting.rounds(1);
    exporting.clock.now -= aheadMs;
    receiver.answer = () => 204;
    await exporting.rounds(1);
    assert.deepEqual(receiver.taken(), ["late"]);
  });

  test("a receiver that wants fewer or does not know us is not asked for every row", async () => {
    for (const status of [401, 429, 503]) {
      await using store = await open();
      await using receiver = await startReceiver(() => status);
      await enter(store, ["a", "b", "c"], 1);
      const exporting = createExporting(store, receiver.url);
      await exporting.rounds(1);
      assert.deepEqual(receiver.ids, ["a"], `after ${status}`);
      receiver.answer = () => 204;
      exporting.clock.now += MINUTE_MS;
      await exporting.rounds(1);
      assert.deepEqual(receiver.taken().sort(), ["a", "b", "c"], `after ${status}`);
    }
  });
});

function createExporting(store: Store, url: string) {
  const clock = createTestClock(ROUND_MS);
  async function rounds(count: number): Promise<[ExportRound, ...ExportRound[]]> {
    const done: ExportRound[] = [];
    for (let round = 0; round < count; round += 1) {
      clock.now += ROUND_MS;
      done.push(await exportUsage({ store, clock, failpoint, url }));
    }
    return done as [ExportRound, ...ExportRound[]];
  }
  return { clock, rounds };
}

async function enter(store: Store, ids: string[], createdAt: number): Promise<void> {
  const rows = ids.map((id) => ({ id, payload: "{}", createdAt, sentAt: null, heldAt: null }));
  await store.db.insertInto("outbox").values(rows).execute();
}

async function figuresOf(store: Store): Promise<Record<string, number>> {
  const { registry } = createMetrics({ store, dataFolder: ".", version: "0" });
  const figure = await registry.getSingleMetric("vocalhost_usage_exports")?.get();
  return Object.fromEntries((figure?.values ?? []).map(({ labels, value }) => [labels.state, value]));
}

async function startReceiver(answer: (id: string) => number) {
  const seen: { id: string; status: number }[] = [];
  const server = createServer((request, response) => {
    const id = String(request.headers["idempotency-key"]);
    const status = receiver.answer(id);
    seen.push({ id, status });
    request.resume();
    response.writeHead(status).end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const receiver = {
    answer,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    get ids() {
      return seen.map(({ id }) => id);
    },
    taken: () => seen.filter(({ status }) => status === 204).map(({ id }) => id),
    asked: (id: string) => seen.filter((each) => each.id === id).length,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  return receiver;
}
