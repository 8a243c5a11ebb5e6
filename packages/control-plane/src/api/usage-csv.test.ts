// Tests a month of many sessions as a table, over a store in a file: pages follow the client's reading, and no read
// lasts long.
import assert from "node:assert/strict";
import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { sql } from "kysely";
import { until } from "../../../../testing/wait.ts";
import type { Clock } from "@vocalhost/base/clock";
import { openSqliteStore } from "@vocalhost/store/sqlite";
import { systemClock } from "@vocalhost/base/system-clock";
import { agentRow } from "@vocalhost/store/testing/store-contract";
import { startApiHarness, type ApiHarness } from "./testing/api-harness.ts";

const MONTH = "2026-01";
const LINES = 20_000;
const WIDE_NAME = "n".repeat(1_000); // 20 MB: more than sockets buffer
const PLACES = 8; // of 16, for one organisation
const SOON_MS = 30_000;

test("a month's table is read as it is taken, and writes wait for no reader", async () => {
  await using opened = await openMonth();
  const { api } = opened;
  const answer = await startReading(api);
  assert.equal(answer.statusCode, 200);
  await addUsage(api, "zz-late", 1); // sorted last, and not read yet
  const lines = (await text(answer)).split("\r\n");
  assert.equal(lines.length, LINES + 3);
  assert.match(lines[0] ?? "", /^kind,period,session,agent/);
  assert.match(lines.at(-2) ?? "", /^usage,2026-01,zz-late,/);
  assert.equal(new Set(lines).size, lines.length, "no line comes twice");
});

test("so many tables at once, and who leaves or takes nothing gives the place back", async () => {
  const patience = createPatience();
  await using opened = await openMonth(patience.clock);
  const { api } = opened;
  const readers: IncomingMessage[] = [];
  for (let count = 0; count < PLACES; count += 1) readers.push(await startReading(api));
  assert.deepEqual(
    readers.map(({ statusCode }) => statusCode),
    Array.from({ length: PLACES }, () => 200),
  );
  const refused = await startReading(api);
  assert.equal(refused.statusCode, 503);
  assert.equal((JSON.parse(await text(refused)) as { code: string }).code, "SERVICE_UNAVAILABLE");

  readers[0]?.destroy();
  await until(async () => await isAdmitted(api), SOON_MS, "the place of the one who left");

  await until(() => patience.waiting() >= PLACES - 1, SOON_MS, "readers who take nothing");
  patience.end();
  for (const reader of readers.slice(1)) await assert.rejects(text(reader), /aborted/);
  await until(async () => await isAdmitted(api), SOON_MS, "the places of those who took nothing");
  const whole = (await text(await startReading(api))).split("\r\n");
  assert.equal(whole.length, LINES + 2, "one who reads is not cut off");
});

test("a fault before the first line is answered as one", async () => {
  await using opened = await openMonth();
  await sql`alter table usage rename to usage_elsewhere`.execute(opened.api.store.db);
  const answer = await startReading(opened.api);
  assert.equal(answer.statusCode, 500);
  assert.match(answer.headers["content-type"] ?? "", /^application\/json/);
  assert.deepEqual(Object.keys(JSON.parse(await text(answer)) as object), ["error", "code"]);
});

async function isAdmitted(api: ApiHarness): Promise<boolean> {
  const answer = await startReading(api);
  answer.destroy();
  return answer.statusCode === 200;
}

/** Sends a request and does not read the answer yet. */
async function startReading(api: ApiHarness): Promise<IncomingMessage> {
  const request = get(`${api.origin}/v1/usage.csv?month=${MONTH}`, {
    agent: false,
    headers: { authorization: `Bearer ${api.acme.privateKey}` },
  });
  const [answer] = (await once(request, "response")) as [IncomingMessage];
  return answer;
}

async function openMonth(clock: Clock = systemClock) {
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(await mkdtempDisposable(join(tmpdir(), "vocalhost-usage-")));
  const store = stack.use(
    await openSqliteStore({ file: join(folder.path, "store.db"), reserveBytes: 64 * 1024 }),
  );
  const api = stack.use(await startApiHarness({ store, clock }));
  const agent = { ...agentRow("wide"), organizationId: api.acme.id, name: WIDE_NAME };
  await store.db.insertInto("agents").values(agent).execute();
  await sql`
    with recursive n(i) as (select 1 union all select i + 1 from n where i < ${LINES})
    insert into usage (session_id, period, organization_id, agent_id, seconds)
    select printf('s-%08d', i), ${MONTH}, ${api.acme.id}, ${agent.id}, 60 from n`.execute(store.db);
  const owned = stack.move();
  return { api, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

async function addUsage(api: ApiHarness, sessionId: string, seconds: number): Promise<void> {
  const row = { sessionId, seconds, period: MONTH, organizationId: api.acme.id, agentId: "agent-wide" };
  await api.store.db.insertInto("usage").values(row).execute();
}

/** A clock whose long waits end when the test decides. */
function createPatience() {
  const LONG_MS = 10_000;
  const waits = new Set<() => void>();
  const clock: Clock = {
    ...systemClock,
    sleep(ms, signal) {
      if (ms < LONG_MS) return systemClock.sleep(ms, signal);
      const { promise, resolve } = Promise.withResolvers<void>();
      const end = (): void => {
        waits.delete(end);
        resolve();
      };
      waits.add(end);
      signal?.addEventListener("abort", end, { once: true });
      return promise;
    },
  };
  return { clock, waiting: () => waits.size, end: () => waits.forEach((end) => end()) };
}
