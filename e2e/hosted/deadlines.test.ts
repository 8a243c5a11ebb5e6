import assert from "node:assert/strict";
import { ApiError } from "@vocalhost/protocol";
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { after, before, describe, test } from "node:test";
import { inspect } from "node:util";
import { isRunning } from "../harness/service-process.ts";
import { patientMs } from "../../testing/patience.ts";
import { until } from "../../testing/wait.ts";
import { openCall } from "./fault-call.ts";
import { refilled, settled } from "./fault-invariants.ts";
import { startFaultService, type FaultService } from "./fault-service.ts";

const AGENT = "echo";
const BRIEF_AGENT = "brief";
const LIMIT_S = 3;
const LIMIT_MS = LIMIT_S * 1000;
const GRACE_MS = 10_000;
const HEARTBEAT_MS = 1_000;
const START_MS = patientMs(700);
const VANISHED_MS = 30_000;

describe("time runs out", () => {
  const stack = new AsyncDisposableStack();
  let faults: FaultService;
  let vanished: Promise<string>;

  before(async () => {
    faults = await startFaultService(stack, {
      timing: { heartbeatMs: HEARTBEAT_MS, startWarmMs: START_MS, stopGraceMs: 1_000 },
    });
    const { service } = faults;
    await service.deploy({ name: AGENT, files: faults.bot(), autoScaling: { minAgents: 1, maxAgents: 2 } });
    await service.deploy({
      name: BRIEF_AGENT,
      files: faults.bot(),
      autoScaling: { minAgents: 2, maxAgents: 4 },
      vendorViva: { audioFilter: "tel" },
    });
    // The interface allows no limit below a minute.
    faults.write(
      "UPDATE deployments SET spec = json_set(spec, '$.maxSessionDurationS', ?) WHERE agent_id = (SELECT id FROM agents WHERE name = ?)",
      LIMIT_S,
      BRIEF_AGENT,
    );
    await refilled(faults, 3);
    vanished = vanish(faults, stack); // takes half a minute, and needs no help
    vanished.catch(() => undefined); // told by its own test
  });
  after(() => stack.disposeAsync());

  test("for a bot that ignores its limit: it is ended, and billed the limit", async () => {
    const { service } = faults;
    using call = await openCall(service, { agent: BRIEF_AGENT, body: { stubborn: true } });
    const openedMs = performance.now();
    await call.closed(LIMIT_MS + GRACE_MS);
    assert.ok(performance.now() - openedMs >= LIMIT_MS - 500);
    assert.equal(await service.sessionEnded(call.sessionId, 2_000), "deadline");
    assert.equal(faults.session(call.sessionId).seconds, LIMIT_S);
    await until(() => !isRunning(call.pid), 5_000, "end of the instance");
    await settled(faults);
  });

  test("for one that ignores it while the controller is down: the same", async () => {
    const { service } = faults;
    await refilled(faults, 2);
    using call = await openCall(service, { agent: BRIEF_AGENT, body: { stubborn: true } });
    const controller = service.pid("controller");
    process.kill(controller, "SIGSTOP");
    try {
      await call.closed(LIMIT_MS + GRACE_MS);
      await until(() => !isRunning(call.pid), 5_000, "end of the instance");
    } finally {
      process.kill(controller, "SIGCONT");
    }
    assert.equal(await service.sessionEnded(call.sessionId, 5_000), "deadline");
    assert.equal(faults.session(call.sessionId).seconds, LIMIT_S);
    const usage = service.rows<{ seconds: number }>(
      "SELECT seconds FROM usage WHERE session_id = ?",
      call.sessionId,
    );
    assert.deepEqual(
      usage.map(({ seconds }) => seconds),
      [LIMIT_S],
    );
    await settled(faults);
  });

  test("for an instance that never takes the session it is given: 504, and it is destroyed", async () => {
    const { service } = faults;
    await refilled(faults, 3); // all there are: an older one that is still loading would be claimed first
    const pid = nextInClaim(faults);
    process.kill(pid, "SIGSTOP");
    const refusal = await service.publicApi.sessions
      .start(BRIEF_AGENT, { transport: "webrtc" })
      .catch((error: unknown) => error);
    assert.ok(refusal instanceof ApiError, inspect(refusal));
    assert.deepEqual(
      { status: refusal.status, code: refusal.code },
      { status: 504, code: "START_TIMED_OUT" },
    );
    await until(() => !isRunning(pid), 10_000, "end of the stopped instance");
    const failed = service.rows(
      "SELECT id FROM sessions WHERE end_reason IN ('start-failed', 'start-timed-out')",
    );
    assert.equal(failed.length, 1);
    await settled(faults);
    await refilled(faults, 2);
  });

  test("for a bot that freezes under its call: it is killed after three missed heartbeats", async () => {
    const { service } = faults;
    await refilled(faults, 2);
    using call = await openCall(service, { agent: BRIEF_AGENT });
    call.fallSilent();
    call.say("freeze");
    assert.equal(await call.closed(6 * HEARTBEAT_MS + 4_000), 1011);
    assert.equal(await service.sessionEnded(call.sessionId, 5_000), "instance-lost");
    assert.equal(isRunning(call.pid), false);
    await settled(faults);
  });

  test("for a client that vanished without a word: its session is over within half a minute", async () => {
    assert.equal(await vanished, "client-lost");
  });
});

/** The instance that the next session of the agent gets. */
function nextInClaim({ service, instancesAlive }: FaultService): number {
  const [next] = service.rows<{ id: string }>(
    "SELECT id FROM instances WHERE state = 'ready' AND agent_id = (SELECT id FROM agents WHERE name = ?) ORDER BY created_at, id",
    BRIEF_AGENT,
  );
  const found = instancesAlive().find(({ id }) => id === next?.id);
  if (!found) throw new Error("No instance is ready");
  return found.pid;
}

/** A client on a wire that goes dead: nothing passes any more, and neither side is told. Gives the reason of the end. */
async function vanish({ service }: FaultService, stack: AsyncDisposableStack): Promise<string> {
  const wire = stack.use(await startWire(Number(new URL(service.apiUrl).port)));
  const call = stack.use(await openCall(service, { agent: AGENT, port: wire.port }));
  await until(() => call.echoed > 10, 10_000, "conversation");
  wire.cut();
  return service.sessionEnded(call.sessionId, VANISHED_MS);
}

interface Wire extends AsyncDisposable {
  readonly port: number;
  /** Both ends stay open and hear nothing more. */
  cut(): void;
}

async function startWire(targetPort: number): Promise<Wire> {
  const sockets: Socket[] = [];
  const server = createServer((client) => {
    const upstream = connect(targetPort, "localhost");
    for (const socket of [client, upstream]) sockets.push(socket.on("error", () => undefined));
    client.pipe(upstream);
    upstream.pipe(client);
  });
  server.listen(0, "localhost");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    cut() {
      for (const socket of sockets) socket.unpipe().pause();
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
