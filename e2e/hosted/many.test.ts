// Two controllers on one Postgres and two gateways, which meet over the network. Whichever of them dies, calls go on and
// are billed once.
import assert from "node:assert/strict";
import { ApiError } from "@vocalhost/protocol";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { patientMs } from "../../testing/patience.ts";
import { size } from "../../testing/sizes.ts";
import { until } from "../../testing/wait.ts";
import { postgresIsMissing } from "../../packages/control-plane/src/testing/test-postgres.ts";
import { clusterIsMissing, startCluster, type Cluster } from "../harness/cluster.ts";
import { buildBot } from "../harness/build-bot.ts";
import { faultBot } from "./fault-bot.ts";
import { openCall, type Call } from "./fault-call.ts";

const AGENT = "echo";
const KILLS = size(1, 10);
const CALLS = size(1, 5); // through each gateway
const TAKEN_OVER_MS = 5_000;
const BILLED_NUMBERS = 60; // more than a second; shorter ones cost nothing

describe("more than one of everything", { skip: postgresIsMissing() ?? clusterIsMissing() }, () => {
  const stack = new AsyncDisposableStack();
  let cluster: Cluster;
  before(async () => {
    const folder = mkdtempSync(join(tmpdir(), "vocalhost-many-"));
    stack.defer(() => rmSync(folder, { recursive: true, force: true }));
    cluster = await startCluster(stack);
    const { api } = cluster.gateways[0]!;
    const buildId = await buildBot(api, faultBot({ truthFile: join(folder, "truth.jsonl") }));
    const autoScaling = { minAgents: 2, maxAgents: 2 * CALLS + 6 };
    await api.agents.create({ serviceName: AGENT, buildId, autoScaling, vendorViva: { audioFilter: "tel" } });
    await until(async () => (await api.agents.get(AGENT)).ready, 60_000, "ready agent");
  });
  after(() => stack.disposeAsync());

  /** A call that was started at one gateway and goes through another. */
  const call = (at: number): Promise<Call> =>
    openCall(cluster.gateways[at % 2]!, { agent: AGENT, port: cluster.gateways[(at + 1) % 2]!.port });

  async function callEverybody(): Promise<Call[]> {
    const calls: Call[] = [];
    for (let at = 0; at < 2 * CALLS; at++) calls.push(await call(at));
    await until(() => calls.every(({ echoed }) => echoed > BILLED_NUMBERS), 20_000, "conversation");
    return calls;
  }

  async function goOn(calls: Call[]): Promise<void> {
    const before = calls.map(({ echoed }) => echoed);
    await until(() => calls.every(({ echoed }, at) => echoed > before[at]! + 25), 15_000, "calls that go on");
  }

  /** Every one of them has ended as its caller wished, and is in the ledger once. */
  async function checkBills(calls: Call[]): Promise<void> {
    for (const { sessionId, faults } of calls) {
      assert.deepEqual(faults, []);
      const session = await until(
        async () => {
          const row = await cluster.store.db
            .selectFrom("sessions")
            .selectAll()
            .where("id", "=", sessionId)
            .executeTakeFirstOrThrow();
          return row.state === "ended" && row;
        },
        20_000,
        `end of session ${sessionId}`,
      );
      assert.equal(session.endReason, "bot-finished");
      const usage = await cluster.store.db
        .selectFrom("usage")
        .selectAll()
        .where("sessionId", "=", sessionId)
        .execute();
      assert.deepEqual(
        usage.map(({ seconds }) => seconds),
        [session.seconds],
      );
    }
  }

  test("one leads; the other answers reads and refuses everything else", async () => {
    const leader = await cluster.leader();
    const other = cluster.controller(leader.name === "machine-a" ? "machine-b" : "machine-a");
    assert.match(leader.output(), /"leads":true,"msg":"controller listens"/);
    assert.match(other.output(), /"leads":false,"msg":"controller listens"/);
    const [first, second] = cluster.gateways;
    assert.equal(await cluster.ask(other, "GET", "/v1/agents"), 200);
    assert.equal(await cluster.ask(other, "POST", `/v1/public/${AGENT}/start`), 503);
    assert.equal(await cluster.ask(other, "DELETE", `/v1/agents/${AGENT}`), 503);
    const calls = [await call(0), await call(1)];
    for (const { sessionId } of calls)
      for (const { api } of [first!, second!])
        assert.equal((await api.sessions.get(AGENT, sessionId)).status, "active");
    await until(() => calls.every(({ echoed }) => echoed > BILLED_NUMBERS), 20_000, "conversation");
    for (const each of calls) each.say("hang up");
    await checkBills(calls);
  });

  test("one with another secret is told so, instead of leading one day with nobody who understands it", async () => {
    await assert.rejects(
      cluster.startController("machine-c", { VOCALHOST_SECRET: "x".repeat(32) }),
      (error) => {
        assert.match(String(error), /ended with 78[^]*signs with another secret[^]*VOCALHOST_SECRET/);
        return true;
      },
    );
  });

  test(`the one that leads is killed, ${KILLS} times over: the other leads, no call drops, none is billed twice`, async (context) => {
    for (let kill = 0; kill < KILLS; kill++) {
      const dead = await cluster.leader();
      const calls = await callEverybody();
      const [early, ...late] = calls;
      const killedMs = performance.now();
      await dead.end("SIGKILL");
      early!.say("hang up"); // nobody is there to hear of it
      const [first, second] = cluster.gateways;
      const read = await first!.api.sessions.get(AGENT, late[0]!.sessionId);
      const readMs = performance.now() - killedMs;
      assert.equal(read.status, "active");
      // It needs no instance before its socket comes: what takes long is the taking over alone.
      const started = await second!.publicApi.sessions.start(AGENT, { transport: "websocket" });
      const leads = await cluster.leader(dead.name);
      const takenOverMs = performance.now() - killedMs;
      context.diagnostic(
        `${leads.name}: a read after ${Math.round(readMs)} ms, a start after ${Math.round(takenOverMs)} ms`,
      );
      assert.ok(takenOverMs < patientMs(TAKEN_OVER_MS), `a start was answered after ${takenOverMs} ms`);
      assert.ok("wsUrl" in started);
      await goOn(late);
      await cluster.startController(dead.name);
      for (const each of late) each.say("hang up");
      await checkBills(calls);
    }
  });

  test("one that is asked to end lets the other lead at once", async () => {
    const calls = await callEverybody();
    const old = await cluster.leader();
    assert.equal(await old.end(), 0);
    await cluster.leader(old.name);
    const next = await call(0);
    await goOn(calls);
    await cluster.startController(old.name);
    for (const each of [...calls, next]) each.say("hang up");
    await checkBills(calls);
  });

  test("the database is killed and comes back: no session is lost, none is billed twice", async () => {
    const calls = await callEverybody();
    const [early, ...late] = calls;
    const pids = ["machine-a", "machine-b"].map((name) => cluster.controller(name).process.pid);
    await cluster.postgres.stop("immediate");
    early!.say("hang up");
    await early!.closed();
    await goOn(late);
    const refused = await cluster.gateways[0]!.publicApi.sessions.start(AGENT, { transport: "webrtc" }).catch(
      (error: unknown) => error,
    );
    assert.ok(refused instanceof ApiError && refused.status === 503, String(refused));
    await cluster.postgres.start();
    await until(
      () =>
        call(1).then(
          (next) => (next.say("hang up"), true),
          () => false,
        ),
      20_000,
      "next call",
    );
    await goOn(late);
    for (const each of late) each.say("hang up");
    await checkBills(calls);
    assert.deepEqual(
      ["machine-a", "machine-b"].map((name) => cluster.controller(name).process.exitCode),
      [null, null],
    );
    assert.deepEqual(
      ["machine-a", "machine-b"].map((name) => cluster.controller(name).process.pid),
      pids,
    );
  });
});
