import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import type { OrganizationId } from "../../identity/principal.ts";
import { createTestClock } from "@vocalhost/base/testing/test-clock";
import { createFailpoint } from "@vocalhost/base/failpoints";
import type { SessionRow } from "@vocalhost/store/schema";
import { openMemoryStore } from "@vocalhost/store/sqlite";
import type { Store } from "@vocalhost/store/store";
import { closePeriods } from "./close-periods.ts";
import { writeUsage } from "./close-usage.ts";
import { exportUsage, HELD_AFTER_MS } from "./export.ts";
import { createExportTeller } from "./export.ts";
import { silentLog } from "@vocalhost/base/log";
import { filterReport } from "./filter-report.ts";
import { readUsage } from "./read-usage.ts";
import { usageCsv } from "./usage-csv.ts";

const ours = "organization" as OrganizationId;
const others = "other" as OrganizationId;
const failpoint = createFailpoint(undefined);
const hourMs = 3_600_000;
const january = Date.parse("2026-01-31T23:59:30.500Z");
const closing = Date.parse("2026-02-01T06:00:00Z");

test("a closed session is in the ledger once, however often it is closed", async () => {
  await using store = await openFilled();
  const session = closingSession({ boundAt: january, elapsedMs: 61_700 });
  for (let times = 0; times < 3; times += 1) await close(store, session);

  const report = await readUsage(store, ours, "2026-01");
  assert.deepEqual(report, {
    period: "2026-01",
    closed: false,
    seconds: 29,
    minutes: 1,
    freeMinutes: 10_000,
    billableMinutes: 0,
    amountMicroDollars: 0,
    amountUsd: "0.0000",
    invoiceUsd: "0.00",
    sessions: 1,
    agents: [{ agent: "parrot", seconds: 29, sessions: 1 }],
    corrections: [],
  });
  assert.equal((await readUsage(store, ours, "2026-02")).seconds, 32);
  assert.equal((await readUsage(store, others, "2026-01")).seconds, 0);
  const outbox = await store.db.selectFrom("outbox").select("id").orderBy("id").execute();
  assert.deepEqual(
    outbox.map((row) => row.id),
    ["usage:s1:2026-01", "usage:s1:2026-02"],
  );
});

test("a transaction that fails leaves no usage behind", async () => {
  await using store = await openFilled();
  await assert.rejects(
    store.transaction(async (tx) => {
      await writeUsage(tx, closingSession({}), { nowMs: 1 });
      throw new Error("crash");
    }),
    /crash/,
  );
  assert.equal((await readUsage(store, ours, "2026-01")).seconds, 0);
  assert.deepEqual(await store.db.selectFrom("outbox").selectAll().execute(), []);
});

test("minutes and price are of the month's sum", async () => {
  await using store = await openFilled();
  for (let index = 0; index < 100; index += 1) {
    await close(store, closingSession({ id: `s${index}`, boundAt: closing, elapsedMs: 9_000_900 }));
  }
  const report = await readUsage(store, ours, "2026-02");
  assert.deepEqual(
    [report.seconds, report.minutes, report.billableMinutes, report.amountUsd, report.invoiceUsd],
    [900_000, 15_000, 5_000, "7.5000", "7.50"],
  );
});

test("a month closes at 06:00 UTC on the first, once its sessions are over", async () => {
  await using store = await openFilled();
  const open = { id: "open", state: "active", createdAt: january } as const;
  await store.db.insertInto("sessions").values(sessionRow(open)).execute();

  assert.deepEqual(await closePeriods(store, { nowMs: closing - 1, failpoint }), []);
  assert.deepEqual(await closePeriods(store, { nowMs: closing, failpoint }), [
    { organizationId: others, period: "2026-01" },
  ]);
  await store.db.updateTable("sessions").set({ state: "ended" }).where("id", "=", "open").execute();
  assert.deepEqual(await closePeriods(store, { nowMs: closing, failpoint }), [
    { organizationId: ours, period: "2026-01" },
  ]);
  assert.deepEqual(await closePeriods(store, { nowMs: closing, failpoint }), []);
  assert.equal((await readUsage(store, ours, "2026-01")).closed, true);
});

test("months that an idle service left open are closed later", async () => {
  await using store = await openFilled();
  await close(store, closingSession({ boundAt: january }));
  const closed = await closePeriods(store, { nowMs: Date.parse("2026-05-03T00:00:00Z"), failpoint });
  assert.deepEqual(closed.map((each) => `${each.organizationId} ${each.period}`).sort(), [
    "organization 2026-01",
    "organization 2026-04",
    "other 2026-04",
  ]);
});

test("what is found after the close is a dated correction and changes no sum", async () => {
  await using store = await openFilled();
  const early = closingSession({ id: "early", boundAt: january, elapsedMs: 5_000 });
  const late = closingSession({ id: "late", boundAt: january, elapsedMs: 61_700 });
  await close(store, early);
  await closePeriods(store, { nowMs: closing, failpoint });
  await close(store, early, closing + 1);
  for (let times = 0; times < 2; times += 1) await close(store, late, closing + 2);

  const report = await readUsage(store, ours, "2026-01");
  assert.equal(report.seconds, 5);
  assert.deepEqual(report.corrections, [{ sessionId: "late", seconds: 29, foundAt: closing + 2 }]);
  assert.equal((await readUsage(store, ours, "2026-02")).seconds, 32);
  const sent = await store.db
    .selectFrom("outbox")
    .select("payload")
    .where("id", "=", "usage:late:2026-01")
    .executeTakeFirstOrThrow();
  assert.deepEqual(JSON.parse(sent.payload), {
    type: "usage",
    sessionId: "late",
    period: "2026-01",
    organizationId: ours,
    agentId: "a1",
    seconds: 29,
    correction: true,
  });
});

test("the CSV has a line per session and is no programme", async () => {
  await using store = await openFilled();
  await store.db.updateTable("agents").set({ name: "=cmd()" }).where("id", "=", "a1").execute();
  const session = closingSession({ boundAt: january, elapsedMs: 5_000 });
  await store.db
    .insertInto("sessions")
    .values([
      sessionRow({
        ...{ id: "s1", boundAt: january, endedAt: january + 5_000, filter: "tel", filterState: "ran" },
        ...{ filterFramesIn: 500, filterFramesFiltered: 498, filterFigures: JSON.stringify(FIGURES) },
      }),
      sessionRow({ id: "s2", boundAt: january, filter: "pro", filterState: "not-attached" }),
      sessionRow({ id: "s3", boundAt: january + 1, filter: "pro", filterState: "unavailable" }),
      sessionRow({ id: "s4", boundAt: january }),
    ])
    .execute();
  await close(store, session);
  await close(store, { ...session, id: "s2" });
  const [head, ...lines] = (await csvOf(store, ours)).split("\r\n");
  assert.equal(
    head,
    "kind,period,session,agent,filter,started,ended,seconds,found,filter_state,model_version,frames_in," +
      "frames_filtered,filtered_seconds,near_share,level_removed_db,filter_cpu_ms,failures,note",
  );
  const began = "2026-01-31T23:59:30.50";
  assert.deepEqual(lines, [
    `usage,2026-01,s1,'=cmd(),tel,${began}0Z,2026-01-31T23:59:35.500Z,5,,ran,1.0.0,500,498,5,0.25,-6.5,40,2,`,
    `usage,2026-01,s2,'=cmd(),pro,${began}0Z,,5,,not-attached,,0,0,0,,,0,0,"${warningOf("not-attached")}"`,
    `not-billed,2026-01,s3,'=cmd(),pro,${began}1Z,,0,,unavailable,,0,0,0,,,0,0,${warningOf("unavailable")}`,
    "",
  ]);
  assert.equal((await csvOf(store, others)).split("\r\n").length, 2);
});

test("rows are sent until they are taken, under their own name, and held after 23 h", async () => {
  await using store = await openFilled();
  await using receiver = await startReceiver();
  const clock = createTestClock(closing);
  const send = () => exportUsage({ store, clock, failpoint, url: receiver.url });
  for (const id of ["a", "b"]) await close(store, closingSession({ id, boundAt: closing }), closing);

  receiver.status = 503;
  const problem = (status: number) => `the receiver answers ${status}`;
  assert.deepEqual(await send(), { sent: 0, held: 0, failed: 1, problem: problem(503) });
  const again = (): void => void (clock.now += 60_000);
  again();
  receiver.status = 400;
  assert.deepEqual(await send(), { sent: 0, held: 0, failed: 2, problem: problem(400) });
  again();
  receiver.status = 204;
  assert.deepEqual(await send(), { sent: 2, held: 0, failed: 0 });
  assert.deepEqual(await send(), { sent: 0, held: 0, failed: 0 });
  const [first, second] = ["usage:a:2026-02", "usage:b:2026-02"];
  assert.deepEqual(receiver.names, [first, second, first, first, second]);

  await close(store, closingSession({ id: "c", boundAt: closing }), closing);
  clock.now = closing + HELD_AFTER_MS;
  assert.deepEqual(await send(), { sent: 0, held: 1, failed: 0 });
  assert.deepEqual(await send(), { sent: 0, held: 0, failed: 0 });
});

test("the receiver is told who sends", async () => {
  await using store = await openFilled();
  await using receiver = await startReceiver();
  await close(store, closingSession({}), closing);
  const clock = createTestClock(closing);
  await exportUsage({ store, clock, failpoint, url: receiver.url, token: "of the ledger" });
  assert.deepEqual(receiver.authorizations, ["Bearer of the ledger"]);
});

test("that exporting fails is said once, for each reason, and when it is over", () => {
  const said: string[] = [];
  const note = (fields: object, sentence: string) => void said.push(`${sentence} ${JSON.stringify(fields)}`);
  let nowMs = 0;
  const log = { ...silentLog, info: note, warn: note, error: note };
  const tell = createExportTeller(log, () => nowMs);
  const failing = { sent: 0, held: 0, failed: 1, problem: "nobody there" };
  for (const round of [failing, failing, { ...failing, problem: "403" }, { ...failing, problem: "403" }])
    tell(round);
  nowMs = 3_600_001;
  tell({ ...failing, problem: "403" });
  tell({ sent: 3, held: 0, failed: 1 }); // the others go on, and this one still waits
  tell({ sent: 0, held: 0, failed: 0 });
  tell({ sent: 4, held: 0, failed: 0 });
  tell({ sent: 1, held: 2, failed: 0 });
  assert.deepEqual(said, [
    'usage cannot be exported, will be retried {"failed":1,"problem":"nobody there"}',
    'usage cannot be exported, will be retried {"failed":1,"problem":"403"}',
    'usage cannot be exported, will be retried {"failed":1,"problem":"403"}',
    'usage is exported again {"sent":4}',
    'usage entries could not be exported for 23 hours and are held for a person {"held":2}',
  ]);
});

test("a receiver that is down is no error, only a later time", async () => {
  await using store = await openFilled();
  await close(store, closingSession({}), closing);
  const round = await exportUsage({
    store,
    clock: createTestClock(closing + hourMs),
    failpoint,
    url: "http://127.0.0.1:1/",
  });
  assert.match(round.problem ?? "", /ECONNREFUSED|bad port/);
  assert.deepEqual({ ...round, problem: "" }, { sent: 0, held: 0, failed: 1, problem: "" });
});

function csvOf(store: Store, organizationId: OrganizationId): Promise<string> {
  return text(usageCsv(store, organizationId, "2026-01"));
}

async function openFilled(): Promise<Store> {
  const store = await openMemoryStore();
  for (const id of [ours, others]) {
    await store.db
      .insertInto("organizations")
      .values({ id, name: id, verboseName: id, properties: "{}", createdAt: 0 })
      .execute();
  }
  await store.db
    .insertInto("agents")
    .values({
      id: "a1",
      organizationId: ours,
      name: "parrot",
      region: "local",
      state: "live",
      minAgents: 0,
      maxAgents: 1,
      desiredDeploymentId: "d1",
      reconciledDeploymentId: null,
      version: 1,
      createdAt: 0,
      updatedAt: 0,
      deletedAt: null,
    })
    .execute();
  return store;
}

const FIGURES = {
  ...{
    version: "1.0.0",
    seconds: 5,
    nearShare: 0.25,
    levelRemovedDb: -6.5,
    cpuMs: 40,
    bypassedSeconds: 0,
    failures: 2,
  },
};

function warningOf(filterState: "not-attached" | "unavailable"): string | null | undefined {
  return filterReport(sessionRow({ filter: "pro", filterState }))?.warning;
}

function close(store: Store, session: ReturnType<typeof closingSession>, nowMs = 1): Promise<void> {
  return store.transaction((tx) => writeUsage(tx, session, { nowMs }));
}

function closingSession(facts: { id?: string; boundAt?: number; elapsedMs?: number }) {
  return {
    id: "s1",
    organizationId: ours,
    agentId: "a1",
    filter: "tel" as const,
    filterState: "ran" as const,
    boundAt: january,
    startMs: 0,
    elapsedMs: 10_000,
    lastProofOfLifeAt: null,
    observed: { atLeastMs: null, atMostMs: null },
    stopRequestedAt: null,
    maxDurationMs: 14_400_000,
    ...facts,
  };
}

function sessionRow(row: Partial<SessionRow>): SessionRow {
  return {
    id: "s1",
    organizationId: ours,
    agentId: "a1",
    deploymentId: null,
    instanceId: null,
    state: "ended",
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
    createdAt: january,
    boundAt: null,
    activeAt: null,
    startMs: null,
    maxDurationMs: 60_000,
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
    ...row,
  };
}

async function startReceiver() {
  const state = { status: 204, names: [] as unknown[], authorizations: [] as unknown[] };
  const server = createServer((request, response) => {
    state.names.push(request.headers["idempotency-key"]);
    state.authorizations.push(request.headers.authorization);
    response.writeHead(state.status).end();
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", resolve);
  await promise;
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return Object.assign(state, { url, [Symbol.asyncDispose]: () => closeServer(server) });
}

async function closeServer(server: ReturnType<typeof createServer>): Promise<void> {
  server.closeAllConnections();
  const { promise, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  await promise;
}
