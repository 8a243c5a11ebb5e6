import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { isRunning } from "../harness/service-process.ts";
import { pause, until } from "../../testing/wait.ts";
import { openCall } from "./fault-call.ts";
import { refilled, settled } from "./fault-invariants.ts";
import { startFaultService, type FaultService } from "./fault-service.ts";

const AGENT = "echo";
const HEARTBEAT_MS = 1_000;

describe("an instance", () => {
  const stack = new AsyncDisposableStack();
  let faults: FaultService;

  before(async () => {
    faults = await startFaultService(stack, {
      timing: { heartbeatMs: HEARTBEAT_MS, stopGraceMs: 1_000 },
    });
    const autoScaling = { minAgents: 1, maxAgents: 3 };
    await faults.service.deploy({ name: AGENT, files: faults.bot(), autoScaling });
  });
  after(() => stack.disposeAsync());

  test("is killed under a call: its client hears 1011, the session is over, the pool is filled again", async () => {
    const { service } = faults;
    await refilled(faults, 1);
    using call = await openCall(service, { agent: AGENT });
    await until(() => call.echoed > 5, 5_000, "conversation");
    process.kill(call.pid, "SIGKILL");
    assert.equal(await call.closed(2_000), 1011);
    assert.equal(await service.sessionEnded(call.sessionId, 5_000), "instance-lost");
    await settled(faults);
    await refilled(faults, 1);
  });

  test("freezes while no controller is there: the next one, which never heard of it, kills it as well", async () => {
    const { service } = faults;
    await refilled(faults, 1);
    using call = await openCall(service, { agent: AGENT });
    call.fallSilent();
    process.kill(service.pid("controller"), "SIGKILL");
    call.say("freeze");
    assert.equal(await call.closed(30_000), 1011);
    assert.equal(await service.sessionEnded(call.sessionId, 5_000), "instance-lost");
    assert.equal(isRunning(call.pid), false);
    await settled(faults);
  });

  test("does not answer to a stop: others are not held up by it", async () => {
    const { service } = faults;
    await service.api.agents.update(AGENT, { autoScaling: { minAgents: 2, maxAgents: 4 } });
    await refilled(faults, 2);
    using frozen = await openCall(service, { agent: AGENT });
    using other = await openCall(service, { agent: AGENT });
    frozen.fallSilent();
    process.kill(frozen.pid, "SIGSTOP");
    await service.api.sessions.stop(AGENT, frozen.sessionId);
    other.fallSilent();
    other.say("hang up");
    assert.equal(await service.sessionEnded(other.sessionId, 1_000), "bot-finished");
    assert.equal(await service.sessionEnded(frozen.sessionId, 10_000), "stopped");
    assert.equal(isRunning(frozen.pid), false);
  });

  test("is killed while its session ends: the record decides, and the end is written once", async () => {
    const { service } = faults;
    await service.api.agents.update(AGENT, { autoScaling: { minAgents: 4, maxAgents: 8 } });
    await refilled(faults, 4);
    await using callers = new AsyncDisposableStack();
    const calls = await Promise.all(
      [0, 3, 6, 12].map(async (delayMs) => ({
        delayMs,
        call: callers.use(await openCall(service, { agent: AGENT })),
      })),
    );
    for (const { delayMs, call } of calls) {
      call.fallSilent();
      call.say("hang up");
      await pause(delayMs);
      if (isRunning(call.pid)) process.kill(call.pid, "SIGKILL"); // on a busy machine it may be gone already
    }
    for (const { call } of calls) {
      const reason = await service.sessionEnded(call.sessionId, 5_000);
      assert.ok(["bot-finished", "instance-lost"].includes(reason), reason);
    }
    await settled(faults);
    await refilled(faults, 4);
  });
});
