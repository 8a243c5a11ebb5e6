// Two controllers on one Postgres and two gateways, which meet over the network. Whichever of them dies, calls go on and
// are billed once.
import assert from "node:assert/strict";
import { ApiError } from "@vocalhost/protocol";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, describe, test } from "node:test";
import { patientMs } from "../../testing/patience.ts";
import { size } from "../../testing/sizes.ts";
import { until } from "../../testing/wait.ts";
import { postgresIsMissing } from "../../packages/store/src/testing/test-postgres.ts";
import { clusterIsMissing, startCluster, type Cluster } from "../harness/cluster.ts";
import { buildBot } from "../harness/build-bot.ts";
import { faultBot, openTruthFile } from "./fault-bot.ts";
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
    const buildId = await buildBot(api, faultBot({ truthFile: openTruthFile(folder) }));
    const autoScaling = { minAgents: 2, maxAgents: 2 * CALLS + 6 };
    await api.agents.create({ serviceName: AGENT, buildId, autoScaling, vendorViva: { audioFilter: "tel" } });
    await until(async () => (await api.agents.get(AGENT)).ready, 60_000, "ready agent");
  });
  afterEach((context) => {
    if ("passed" in context && !context.passed) process.stderr.write(`${cluster.complaints()}\n`);
  });
  after(() => stack.disposeAsync());

  // Calls live through as much as they can: what outlives one death must outlive the next.
  let calls: Call[] = [];
  const over: Call[] = [];
  let made = 0;

  /** A call that was started at one gateway and goes through another. */
  async function call(): Promise<Call> {
    const [started, through] = made++ % 2 === 0 ? cluster.gateways : cluster.gateways.toReversed();
    return openCall(started!, { agent: AGENT, port: through!.port });
  }

  async function callEverybody(): Promise<void> {
    while (calls.length < 2 * CALLS) calls.push(await call());
    await until(() => calls.every(({ echoed }) => echoed > BILLED_NUMBERS), 20_000, "conversation");
  }

  function hangUp(): Call {
    const [first, ...others] = calls;
    calls = others;
    over.push(first!);
    first!.say("hang up");
    return first!;
  }

  async function goOn(): Promise<void> {
    const before = calls.map(({ echoed }) => echoed);
    await until(() => calls.every(({ echoed }, at) => echoed > before[at]! + 25), 15_000, "calls that go on");
  }

  /** Every call has ended as its caller asked, and is in the ledger once. */
  async function checkBills(): Promise<void> {
    for (const { sessionId, faults } of over) {
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
    await callEverybody();
    for (const { sessionId } of calls)
      for (const { api } of [first!, second!])
        assert.equal((await api.sessions.get(AGENT, sessionId)).status, "active");
  });

  test("one with another secret is told so, instead of leading one day without being understood", async () => {
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
      await callEverybody();
      const killedMs = performance.now();
      await dead.end("SIGKILL");
      hangUp(); // no process is left to hear of it
      const [first, second] = cluster.gateways;
      const read = await first!.api.sessions.get(AGENT, calls[0]!.sessionId);
      const readMs = performance.now() - killedMs;
      assert.equal(read.status, "active");
      // It needs no instance before its socket comes: what takes long is the taking over alone.
      const started = await until(
        () => second!.publicApi.sessions.start(AGENT, { transport: "websocket" }).catch(() => undefined),
        20_000,
        "start",
      );
      const takenOverMs = performance.now() - killedMs;
      const leads = await cluster.leader(dead.name);
      context.diagnostic(
        `${leads.name}: a read after ${Math.round(readMs)} ms, a start after ${Math.round(takenOverMs)} ms`,
      );
      assert.ok(takenOverMs < patientMs(TAKEN_OVER_MS), `a start was answered after ${takenOverMs} ms`);
      assert.ok("wsUrl" in started);
      await goOn();
      await cluster.startController(dead.name);
      await checkBills();
    }
  });

  test("one that is asked to end lets the other lead at once", async (context) => {
    const old = await cluster.leader();
    const askedMs = performance.now();
    assert.equal(await old.end(), 0);
    const endedMs = performance.now() - askedMs;
    await cluster.gateways[0]!.publicApi.sessions.start(AGENT, { transport: "websocket" });
    const startedMs = performance.now() - askedMs;
    context.diagnostic(`ended after ${Math.round(endedMs)} ms, a start after ${Math.round(startedMs)} ms`);
    await cluster.leader(old.name);
    await goOn();
    await cluster.startController(old.name);
  });

  test("the database is killed and comes back: no session is lost, none is billed twice", async () => {
    await callEverybody();
    const processes = (): (number | null | undefined)[] =>
      ["machine-a", "machine-b"].flatMap((name) => {
        const { pid, exitCode } = cluster.controller(name).process;
        return [pid, exitCode];
      });
    const before = processes();
    await cluster.postgres.stop("immediate");
    await hangUp().closed();
    await goOn();
    const refused = await cluster.gateways[0]!.publicApi.sessions.start(AGENT, {
      transport: "websocket",
    }).catch((error: unknown) => error);
    assert.ok(refused instanceof ApiError && refused.status === 503, String(refused));
    await cluster.postgres.start();
    const next = await until(() => call().catch(() => undefined), 20_000, "next call");
    calls.push(next);
    await callEverybody();
    await goOn();
    while (calls.length > 0) hangUp();
    await checkBills();
    assert.deepEqual(processes(), before, "no process had to be started again");
  });
});
