import assert from "node:assert/strict";
import { ApiError } from "@vocalhost/protocol";
import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { patientMs } from "../../testing/patience.ts";
import { createRandom } from "../../testing/random.ts";
import { size } from "../../testing/sizes.ts";
import { isRunning, type ServiceProcess } from "../harness/service-process.ts";
import { pause, until } from "../../testing/wait.ts";
import { watchProcess, type WatchedProcess } from "../harness/watched-process.ts";
import { openCall } from "./fault-call.ts";
import { createFaultClients, type FaultClients } from "./fault-clients.ts";
import { checkHistory, checkNow, refilled, settled } from "./fault-invariants.ts";
import { startFaultService, type FaultService } from "./fault-service.ts";
import { startUsageReceiver, type UsageReceiver } from "./fault-usage-receiver.ts";
import { nodeFlags, programOf } from "../../testing/programs.ts";

const AGENT = "echo";
const MAX_AGENTS = 5;
const CALLS = size(2, 20);
const RANDOM_KILLS = size(1, 20);
const CLOCKS_S = patientMs(100) / 1000; // the truth is put together from two of them
const BILLED_NUMBERS = 75; // more than a second; shorter ones cost nothing and are not sent on

const SIDES = size(["after"], ["before", "after"]); // what is before a step is nearly what is after the one before it
// The simulation dies at every step; here one proves that processes do as it says.
const MOMENTS = size(
  ["active.committed"],
  [
    "start.claimed",
    "instance.created",
    "bot.started",
    "active.committed",
    "active.replied",
    "stop.flagged",
    "close.committed",
    "instance.recycled",
  ],
);

// One service for all of it: what one death leaves behind would trouble the next case.
describe("the controller is killed", () => {
  const stack = new AsyncDisposableStack();
  let faults: FaultService;
  let clients: FaultClients;
  let receiver: UsageReceiver;

  before(async () => {
    receiver = stack.use(await startUsageReceiver());
    faults = await startFaultService(stack, {
      timing: { connectDeadlineMs: 3_000, leaseMs: 2_000, leaseRenewMs: 500 },
      environment: { VOCALHOST_USAGE_EXPORT_URL: receiver.url },
    });
    await faults.service.deploy({
      name: AGENT,
      files: faults.bot(),
      autoScaling: { minAgents: 2, maxAgents: MAX_AGENTS },
      vendorViva: { audioFilter: "tel" },
    });
    clients = createFaultClients(faults, AGENT);
  });
  after(() => stack.disposeAsync());

  for (const moment of MOMENTS.flatMap((name) => SIDES.map((side) => `${name}.${side}`)))
    test(`at ${moment}`, async () => {
      await refilled(faults, 2);
      faults.arm(moment);
      const done = Promise.all([clients.startAndStop(), clients.callAndHangUp()]);
      await Promise.all([done, faults.fired()]);
      checkNow(faults, { maxAgents: MAX_AGENTS });
      await settled(faults);
      checkHistory(faults, clients.replies);
      assert.deepEqual(clients.dropped, []);
    });

  for (const moment of SIDES.map((side) => `export.sent.${side}`))
    test(`at ${moment}`, async () => {
      faults.arm(moment);
      await Promise.all([clients.callAndHangUp(BILLED_NUMBERS), faults.fired()]);
      await settled(faults);
      assert.deepEqual(clients.dropped, []);
    });

  test(`${RANDOM_KILLS} times at any moment, under a stream of starts`, async (context) => {
    const seed = Number(process.hrtime.bigint() % 1_000_000n);
    context.diagnostic(`seed ${seed}`);
    const random = createRandom(seed);
    let isOver = false;
    const stream = async (live: () => Promise<void>): Promise<void> => {
      while (!isOver) await live();
    };
    const streams = Promise.all([
      stream(clients.startAndStop),
      stream(clients.startAndStop),
      stream(() => clients.callAndHangUp()),
      stream(() => clients.callAndHangUp(BILLED_NUMBERS)),
    ]);
    let previous = 0;
    for (let kill = 0; kill < RANDOM_KILLS; kill += 1) {
      const pid = await until(() => otherPid(faults, previous), 10_000, "next controller");
      // Often before it serves at all; sometimes well into its work.
      await pause(random() < 0.5 ? random() * 300 : 1_000 + random() * 1_500);
      process.kill(pid, "SIGKILL");
      previous = pid;
      checkNow(faults, { maxAgents: MAX_AGENTS });
    }
    await faults.ready();
    isOver = true;
    await streams;
    await settled(faults);
    checkNow(faults, { maxAgents: MAX_AGENTS });
    checkHistory(faults, clients.replies);
    assert.deepEqual(clients.dropped, []);
  });

  test(`under ${CALLS} calls: none drops, no number is lost, and all end as they should`, async () => {
    const { service } = faults;
    const autoScaling = { minAgents: CALLS, maxAgents: CALLS + 2 };
    await service.api.agents.update(AGENT, { autoScaling });
    await refilled(faults, CALLS);
    await service.api.agents.update(AGENT, { autoScaling: { ...autoScaling, minAgents: 0 } });
    await using callers = new AsyncDisposableStack();
    const calls = await Promise.all(
      Array.from({ length: CALLS }, async () => callers.use(await openCall(service, { agent: AGENT }))),
    );
    await service.replaceController();
    const active = async (): Promise<string[]> =>
      (await service.api.sessions.list(AGENT, { limit: 1_000, status: "active" })).sessions
        .filter(({ status }) => status === "active")
        .map(({ sessionId }) => sessionId);
    const adopted = await until(
      async () => {
        const ids = new Set(await active());
        return calls.every(({ sessionId }) => ids.has(sessionId));
      },
      3_000,
      "adopted sessions",
    );
    assert.ok(adopted);
    const before = calls.map(({ echoed }) => echoed);
    await until(() => calls.every(({ echoed }, at) => echoed > before[at]! + 25), 15_000, "calls that go on");
    for (const call of calls) call.fallSilent();
    await until(() => calls.every(({ sent, echoed }) => sent === echoed), 5_000, "every number back");
    assert.deepEqual(
      calls.flatMap((call) => call.faults),
      [],
    );
    assert.deepEqual(
      calls.filter((call) => !call.isOpen),
      [],
    );
    for (const call of calls) call.say("hang up");
    assert.deepEqual(new Set(await Promise.all(calls.map((call) => call.closed()))), new Set([1000]));
    const reasons = await Promise.all(calls.map(({ sessionId }) => service.sessionEnded(sessionId)));
    assert.deepEqual(new Set(reasons), new Set(["bot-finished"]));
  });

  test("is frozen instead, and comes back when another one leads: it can do nothing any more, and goes", async () => {
    const { service } = faults;
    // Instances for calls that have just ended may exist already, or not.
    const autoScaling = { minAgents: 2, maxAgents: CALLS + 2 };
    await service.api.agents.update(AGENT, { autoScaling });
    await refilled(faults, 2);
    await service.api.agents.update(AGENT, { autoScaling: { ...autoScaling, minAgents: 0 } });
    using call = await openCall(service, { agent: AGENT });
    const frozen = service.pid("controller");
    using ice = await freeze(faults, frozen);
    // These reach the frozen one, which hears of them when it has been replaced.
    const key = "asked-of-the-frozen-one";
    const started = service.publicApi.sessions.start(AGENT, { transport: "webrtc", idempotencyKey: key });
    const stopped = service.api.sessions.stop(AGENT, call.sessionId);
    const updated = service.api.agents.update(AGENT, { autoScaling: { minAgents: 0, maxAgents: 1 } });
    const refusals = Promise.all([started, stopped, updated].map((answer) => answer.catch(statusOf)));
    await using second = await startSecondController(service);
    const told = faults.truth().length;
    ice.melt();
    assert.deepEqual(await refusals, [503, 503, 503]);
    await until(() => !isRunning(frozen), 5_000, "end of the old leader");
    assert.match(service.output(), /another controller leads, ending/);

    assert.equal(faults.truth().length, told);
    assert.equal(service.rows("SELECT id FROM agents WHERE max_agents = 1").length, 0);
    assert.equal(faults.session(call.sessionId).state, "active");
    const again = await service.publicApi.sessions.start(AGENT, { transport: "webrtc", idempotencyKey: key });
    assert.ok("sessionId" in again);
    await service.api.sessions.stop(AGENT, again.sessionId);
    await settled(faults);
    checkNow(faults, { maxAgents: CALLS + 2 });
    assert.equal(call.isOpen, true);
    assert.deepEqual(call.faults, []);

    await second.end();
    await faults.ready(); // the one that the supervisor keeps ready takes over
    await call.leave();
    assert.equal(await service.sessionEnded(call.sessionId), "client-left");
  });

  test("and the ledger has every session once, as long as it was, and sends it on unchanged", async () => {
    const { service } = faults;
    await settled(faults);
    const usage = service.rows<UsageFacts>("SELECT * FROM usage");
    assert.equal(new Set(usage.map(({ session_id }) => session_id)).size, usage.length);
    const billed = new Map(usage.map(({ session_id, seconds }) => [session_id, seconds]));
    const boundAt = new Map(
      service.rows<BoundFacts>("SELECT id, bound_at FROM sessions").map(({ id, bound_at }) => [id, bound_at]),
    );
    const ended = faults.truth().flatMap((truth) => (truth.event === "ended" ? [truth] : []));
    assert.ok(ended.length > CALLS);
    for (const { sessionId, endedAtMs } of ended) {
      const trueS = (endedAtMs - boundAt.get(sessionId)!) / 1000;
      const billedS = billed.get(sessionId) ?? 0; // what is shorter than a second costs nothing
      assert.ok(Math.abs(billedS - trueS) <= 1 + CLOCKS_S, `${billedS} s for ${trueS} s`);
    }
    const ids = service.rows<{ id: string }>("SELECT id FROM outbox").map(({ id }) => id);
    assert.deepEqual(
      ids.toSorted(),
      usage.map(({ session_id, period }) => `usage:${session_id}:${period}`).toSorted(),
    );
    await until(() => ids.every((id) => receiver.received.has(id)), 15_000, "delivery of every entry");
    for (const [id, bodies] of receiver.received) {
      assert.equal(new Set(bodies).size, 1, `${id} was sent with different contents`);
      const { sessionId, seconds } = JSON.parse(bodies[0]!) as { sessionId: string; seconds: number };
      assert.equal(billed.get(sessionId), seconds);
    }
    assert.equal(receiver.received.size, ids.length);
  });
});

/** Between its transactions: a lock held for ever is the database's affair, not that of who leads. */
async function freeze(faults: FaultService, pid: number): Promise<Disposable & { melt(): void }> {
  const melt = (): void => void (isRunning(pid) && process.kill(pid, "SIGCONT"));
  for (;;) {
    process.kill(pid, "SIGSTOP");
    // Each of its threads stops when it next leaves the kernel; until then it may still take the lock.
    await until(() => isStopped(pid), 10_000, "stop of every thread");
    if (faults.isWritable()) return { melt, [Symbol.dispose]: melt };
    melt();
    await pause(5);
  }
}

function isStopped(pid: number): boolean {
  return readdirSync(`/proc/${pid}/task`).every((thread) =>
    /^State:\s+T/m.test(readFileSync(`/proc/${pid}/task/${thread}/status`, "utf8")),
  );
}

/** On the same data folder, as a second machine would be; resolves when it leads. */
async function startSecondController({ environment, apiUrl }: ServiceProcess): Promise<WatchedProcess> {
  const file = programOf("control-plane", "main/controller-main");
  const controller = watchProcess(
    spawn(process.execPath, [...nodeFlags, file], {
      env: { ...environment, VOCALHOST_PUBLIC_URL: apiUrl.replace(/\/v1$/, "") },
      stdio: ["ignore", "pipe", "pipe"],
    }),
    "second controller",
  );
  await controller.printed(/controller listens/);
  return controller;
}

function statusOf(error: unknown): unknown {
  return error instanceof ApiError ? error.status : error;
}

interface UsageFacts {
  session_id: string;
  period: string;
  seconds: number;
}

interface BoundFacts {
  id: string;
  bound_at: number;
}

function otherPid({ service }: FaultService, previous: number): number | undefined {
  const pid = service.pid("controller");
  return pid === previous ? undefined : pid;
}
