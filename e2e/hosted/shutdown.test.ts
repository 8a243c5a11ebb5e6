import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { isRunning } from "../harness/service-process.ts";
import { patientMs } from "../../testing/patience.ts";
import { pause, until, within } from "../../testing/wait.ts";
import { openCall } from "./fault-call.ts";
import { refilled } from "./fault-invariants.ts";
import { instancesAlive, startFaultService, type FaultService } from "./fault-service.ts";

const AGENT = "echo";
const ORDERLY_MS = 10_000;
const ASK_AGAIN_MS = 30; // who asks without a break takes from those who end

// Each case is another life of the same service: it finds its agent deployed, and ends again.
describe("SIGTERM", () => {
  const dataFolder = mkdtempSync(join(tmpdir(), "vocalhost-shutdown-"));
  after(() => rmSync(dataFolder, { recursive: true, force: true }));

  async function start(
    stack: AsyncDisposableStack,
    timing: Record<string, number> = {},
  ): Promise<FaultService> {
    const faults = await startFaultService(stack, {
      dataFolder,
      timing: { endMs: patientMs(9_000), ...timing },
    });
    if (faults.service.rows("SELECT id FROM agents").length === 0)
      await faults.service.deploy({
        name: AGENT,
        files: faults.bot(),
        autoScaling: { minAgents: 1, maxAgents: 4 },
        vendorViva: { audioFilter: "tel" },
      });
    await refilled(faults, 1);
    return faults;
  }

  test("ends calls, sessions and processes in order, and writes down what they cost", async () => {
    await using stack = new AsyncDisposableStack();
    const faults = await start(stack);
    const { service } = faults;
    const processes = [service.pid("gateway"), service.pid("controller")];
    const polite = stack.use(await openCall(service, { agent: AGENT }));
    const stubborn = stack.use(await openCall(service, { agent: AGENT, body: { stubborn: true } }));
    const frozen = stack.use(await openCall(service, { agent: AGENT }));
    await until(() => polite.echoed > 60, 10_000, "a second of talk");
    frozen.fallSilent();
    frozen.say("freeze");
    await until(() => faults.truth().some(({ event }) => event === "frozen"), 10_000, "frozen bot");
    const exited = service.end("SIGTERM");
    // A request now gets a clear answer. A session started before the controller got the signal ends with the others.
    const { statuses, begun } = await startUntilRefused(faults);
    assert.equal(await within(exited, ORDERLY_MS, "end of the service"), 0);
    const refused = statuses.indexOf(503);
    assert.deepEqual([...new Set(statuses.slice(refused))], [503]);
    assert.deepEqual([...new Set(statuses.slice(0, refused))].join(), begun.length > 0 ? "200" : "");
    assert.equal(await polite.closed(), 1000);
    assert.deepEqual([await stubborn.closed(), await frozen.closed()], [1000, 1011]);
    assert.deepEqual(instancesAlive(service.dataFolder), []);
    assert.deepEqual(processes.filter(isRunning), []);
    for (const sessionId of [...[polite, stubborn, frozen].map((call) => call.sessionId), ...begun])
      assert.equal(faults.session(sessionId).end_reason, "stopped");
    const open = service.rows(
      "SELECT id FROM sessions WHERE state IN ('pending', 'starting', 'active', 'stopping')",
    );
    assert.deepEqual(open, []);
    const usage = service.rows<{ session_id: string; seconds: number }>(
      "SELECT session_id, seconds FROM usage",
    );
    // The frozen one is billed up to its last sign of life, if there was time for one.
    assert.deepEqual(
      usage
        .map(({ session_id }) => session_id)
        .filter((id) => id !== frozen.sessionId && !begun.includes(id))
        .toSorted(),
      [polite, stubborn].map(({ sessionId }) => sessionId).toSorted(),
    );
    assert.equal(new Set(usage.map(({ session_id }) => session_id)).size, usage.length);
    assert.ok(usage.every(({ seconds }) => seconds >= 1));
    assert.equal(crashes(faults), 0);
  });

  test("while the controller is away ends everything all the same", async () => {
    await using stack = new AsyncDisposableStack();
    const faults = await start(stack);
    const { service } = faults;
    const call = stack.use(await openCall(service, { agent: AGENT }));
    process.kill(service.pid("controller"), "SIGKILL");
    assert.equal(await within(service.end("SIGTERM"), 2 * ORDERLY_MS, "end of the service"), 0);
    await call.closed();
    assert.deepEqual(instancesAlive(service.dataFolder), []);
    assert.equal(faults.session(call.sessionId).end_reason, "stopped");
    assert.equal(crashes(faults), 0);
  });

  test("a second time does not wait for any call", async () => {
    await using stack = new AsyncDisposableStack();
    const faults = await start(stack, { instanceAloneMs: 1_000 });
    const { service } = faults;
    const processes = [service.pid("gateway"), service.pid("controller")];
    const stubborn = stack.use(await openCall(service, { agent: AGENT, body: { stubborn: true } }));
    const exited = service.end("SIGTERM");
    await service.printed(/once more to force/);
    service.process.kill("SIGTERM");
    assert.equal(await within(exited, ORDERLY_MS, "end by force"), 1); // an orderly one is 0
    await stubborn.closed(ORDERLY_MS);
    await until(() => processes.filter(isRunning).length === 0, ORDERLY_MS, "end of gateway and controller");
    await until(
      () => instancesAlive(service.dataFolder).length === 0,
      2 * ORDERLY_MS,
      "end of the instances",
    );
  });
});

function crashes({ service }: FaultService): number | undefined {
  return service.rows<{ crashes: number }>("SELECT crashes FROM deployments")[0]?.crashes;
}

/** Asks for sessions until the service is gone; returns the answers. */
async function startUntilRefused({
  service,
}: FaultService): Promise<{ statuses: number[]; begun: string[] }> {
  const statuses: number[] = [];
  const begun: string[] = [];
  await service.printed(/once more to force/);
  for (;;) {
    const response = await fetch(`${service.apiUrl}/public/${AGENT}/start`, {
      method: "POST",
      headers: { authorization: `Bearer ${service.publicKey}`, "content-type": "application/json" },
      body: JSON.stringify({ transport: "webrtc" }),
    }).catch(() => undefined);
    if (!response) return { statuses, begun };
    statuses.push(response.status);
    const { sessionId } = (await response.json().catch(() => ({}))) as { sessionId?: string };
    if (sessionId !== undefined) begun.push(sessionId);
    await pause(ASK_AGAIN_MS);
  }
}
