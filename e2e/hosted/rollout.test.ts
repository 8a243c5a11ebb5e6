import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { size } from "../../testing/sizes.ts";
import { isRunning } from "../harness/service-process.ts";
import { until } from "../../testing/wait.ts";
import { openCall, type Call } from "./fault-call.ts";
import { checkHistory, refilled, settled } from "./fault-invariants.ts";
import { startFaultService, type FaultService } from "./fault-service.ts";

const AGENT = "echo";
const CALLS = size(2, 10);
const BACKOFF_MS = [0, 100, 200, 400, 800, 1_600];
const DEPLOYED_MS = 60_000;
const BROKEN = `
console.log("about to open the model");
throw new Error("No model at /models/voice.bin");
export async function bot() {}
`;

describe("a deployment", () => {
  const stack = new AsyncDisposableStack();
  let faults: FaultService;
  let builds: Record<"first" | "second" | "broken", string>;

  before(async () => {
    faults = await startFaultService(stack, { timing: { crashBackoffMs: BACKOFF_MS } });
    const { service } = faults;
    await service.deploy({
      name: AGENT,
      files: faults.bot("first"),
      autoScaling: { minAgents: 1, maxAgents: CALLS + 5 },
    });
    const [{ id: first } = { id: "" }] = (await service.api.builds.list()).builds;
    const [second, broken] = await Promise.all([
      service.build(faults.bot("second")),
      service.build({ "bot.ts": BROKEN }),
    ]);
    builds = { first, second, broken };
  });
  after(() => stack.disposeAsync());

  test(`under ${CALLS} calls drops none, serves new starts with the new code, lets old instances go`, async () => {
    const { service } = faults;
    await using callers = new AsyncDisposableStack();
    const calls: Call[] = [];
    while (calls.length < CALLS) calls.push(callers.use(await openCall(service, { agent: AGENT })));
    assert.deepEqual(new Set(calls.map(({ version }) => version)), new Set(["first"]));
    const before = await service.api.agents.get(AGENT);
    await service.api.agents.update(AGENT, { buildId: builds.second });
    await service.ready(AGENT);
    const fresh = callers.use(await openCall(service, { agent: AGENT }));
    assert.equal(fresh.version, "second");
    const heard = calls.map(({ echoed }) => echoed);
    await until(() => calls.every(({ echoed }, at) => echoed > heard[at]! + 10), 15_000, "calls that go on");
    assert.deepEqual(
      [fresh, ...calls].filter(({ isOpen }) => !isOpen),
      [],
    );
    assert.deepEqual(
      [fresh, ...calls].flatMap((call) => call.faults),
      [],
    );
    assert.deepEqual(
      calls.filter(({ pid }) => !isRunning(pid)),
      [],
    );

    for (const call of [fresh, ...calls]) call.fallSilent();
    for (const call of [fresh, ...calls]) call.say("hang up");
    for (const call of [fresh, ...calls]) assert.equal(await call.closed(), 1000);
    await until(() => !calls.some(({ pid }) => isRunning(pid)), 10_000, "end of the old instances");
    await until(() => phaseOf(faults, before.activeDeploymentId) === "Retired", 10_000, "retirement");
    checkHistory(faults, []);
  });

  test("is rolled back to", async () => {
    const { service } = faults;
    await service.api.agents.update(AGENT, { autoScaling: { minAgents: 1, maxAgents: 5 } });
    const { deployments } = await service.api.agents.deployments(AGENT);
    const first = deployments.toSorted((one, other) => one.createdAt.localeCompare(other.createdAt))[0];
    assert.ok(first);
    await service.api.agents.rollback(AGENT, first.id);
    await service.ready(AGENT);
    using call = await openCall(service, { agent: AGENT });
    assert.equal(call.version, "first");
    assert.equal(await call.leave(), 1000);
    await settled(faults);
  });

  const moments = size(["deploy.flipped"], ["deploy.inserted", "deploy.validated", "deploy.flipped"]);
  const sides = size(["after"], ["before", "after"]); // what is before a step is nearly what is after the one before it
  for (const moment of moments.flatMap((name) => sides.map((side) => `${name}.${side}`)))
    test(`survives the controller's death at ${moment}`, async () => {
      const { service } = faults;
      await refilled(faults, 1);
      using call = await openCall(service, { agent: AGENT });
      const version = call.version === "first" ? "second" : "first";
      faults.arm(moment);
      const asked = service.api.agents.update(AGENT, { buildId: builds[version] }).catch(() => undefined);
      await Promise.all([asked, faults.fired()]);
      checkOneActive(faults);
      // A client without an answer asks again; that makes no second deployment.
      await service.api.agents.update(AGENT, { buildId: builds[version] });
      await service.ready(AGENT);
      checkOneActive(faults);
      using fresh = await openCall(service, { agent: AGENT });
      assert.equal(fresh.version, version);
      assert.equal(call.isOpen, true);
      assert.deepEqual(call.faults, []);
      assert.deepEqual([await call.leave(), await fresh.leave()], [1000, 1000]);
      await settled(faults);
    });

  test("that crashes at import fails after five attempts, ever further apart; the one before serves on", async () => {
    const { service } = faults;
    await refilled(faults, 1);
    const good = await service.api.agents.get(AGENT);
    using call = await openCall(service, { agent: AGENT });
    await service.api.agents.update(AGENT, { buildId: builds.broken });
    const attemptsServed = new Set<number>();
    const failed = await until(
      async () => {
        const record = await service.api.agents.get(AGENT);
        assert.equal(record.available, true);
        const attempt = record.currentRevision?.health?.restartCount ?? 0;
        if (!attemptsServed.has(attempt)) assert.equal(await servedVersion(faults), call.version);
        attemptsServed.add(attempt);
        return record.currentRevision?.phase === "Failed" && record;
      },
      DEPLOYED_MS,
      "failed deployment",
    );
    assert.ok(attemptsServed.size > 1);
    assert.equal(failed.ready, false);
    assert.deepEqual(failed.errors, [
      {
        code: "UNKNOWN_ERROR",
        message: "The bot crashed 5 times before it was ready: Error: No model at /models/voice.bin",
      },
    ]);
    assert.equal(failed.previousRevision?.deploymentID, good.activeDeploymentId);
    assert.equal(call.isOpen, true);
    assert.deepEqual(call.faults, []);
    await call.leave();

    const attempts = service.rows<{ created_at: number; state_at: number }>(
      "SELECT created_at, state_at FROM instances WHERE deployment_id = ? ORDER BY created_at",
      failed.desiredDeploymentId,
    );
    assert.equal(attempts.length, 5);
    attempts.slice(1).forEach(({ created_at }, at) => {
      const waitedMs = created_at - attempts[at]!.state_at;
      assert.ok(waitedMs >= BACKOFF_MS[at + 1]!, `attempt ${at + 2} came after ${waitedMs} ms`);
    });
    const logs = await until(
      async () => {
        const { logs: lines } = await service.api.agents.logs(AGENT, {
          limit: 1_000,
          order: "asc",
          deploymentId: failed.desiredDeploymentId,
        });
        return lines.length > 0 && lines.map(({ log }) => log).join("\n");
      },
      5_000,
      "logs of the broken bot",
    );
    assert.match(logs, /about to open the model/);
    assert.match(logs, /Error: No model at \/models\/voice\.bin\n\s+at .*bot\.ts:3/);
  });

  test("that cannot be prepared says why, and the one before serves on", async () => {
    const { service } = faults;
    const version = await servedVersion(faults);
    await service.api.agents.update(AGENT, { image: "example/nothing:1" });
    const failed = await until(
      async () => {
        const record = await service.api.agents.get(AGENT);
        return record.currentRevision?.phase === "Failed" && record;
      },
      DEPLOYED_MS,
      "failed deployment",
    );
    assert.equal(failed.available, true);
    assert.equal(failed.errors?.length, 1);
    assert.match(
      failed.errors?.[0]?.message ?? "",
      /^There is no build with the image 'example\/nothing:1'\..*$/,
    );
    assert.equal(await servedVersion(faults), version);
  });
});

async function servedVersion({ service }: FaultService): Promise<string> {
  using call = await openCall(service, { agent: AGENT });
  assert.equal(await call.leave(), 1000);
  return call.version;
}

function phaseOf({ service }: FaultService, deploymentId: string): string | undefined {
  return service.rows<{ phase: string }>("SELECT phase FROM deployments WHERE id = ?", deploymentId)[0]
    ?.phase;
}

function checkOneActive({ service }: FaultService): void {
  assert.equal(service.rows("SELECT id FROM deployments WHERE phase = 'Active'").length, 1);
}
