import { InstanceStatus, isAppError } from "@vocalhost/protocol";
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import type { Driver, InstanceSource, InstanceSpec, OpenedDriver, SeenInstance } from "../driver.ts";
import { forgetInstance } from "../forget-instance.ts";
import { until } from "../../../../testing/wait.ts";

/** The surroundings of a driver in a test. */
export interface DriverHarness extends AsyncDisposable {
  /** Another driver over the same objects each time, as after a restart of the controller. Closed with the harness. */
  open(): Promise<OpenedDriver>;
  /** Makes something the driver can run of a bot's text. */
  source(bot: string): Promise<InstanceSource>;
  /** Whether the machine that runs the instances keeps their limits. @default true */
  keepsLimits?: boolean;
  /** Whether the driver tells how long a boot waited for the processor. @default true */
  tellsStarvation?: boolean;
}

const WAITING_BOT = `
export async function bot({ signal }) {
  await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
}
`;

const SPEAKING_BOT = `
import { app } from "vocalhost/runner";
process.stdout.write("first line\\nsecond line\\nlast ä");
app.get("/environment", async () => process.env);
export async function bot() {}
`;

/** Tests the behaviour that all drivers share. */
export function driverContract(name: string, start: () => Promise<DriverHarness>): void {
  test(`${name}: an instance is made, seen, used, ended and forgotten`, async () => {
    await using harness = await start();
    const { driver } = await harness.open();
    const spec = specOf(await harness.source(WAITING_BOT));
    assert.deepEqual(await driver.list(), []);
    await driver.create(spec);
    const { address } = await listening(driver, spec.id);
    const status = InstanceStatus.parse(await ask(address, "/instance", spec.token));
    assert.deepEqual([status.instanceId, status.ready], [spec.id, true]);
    await driver.destroy(spec.id, { graceMs: 10_000 });
    const [seen] = await driver.list();
    assert.deepEqual([seen?.id, seen?.state, seen?.exit?.code], [spec.id, "exited", 0]);
    await driver.forget(spec.id);
    assert.deepEqual(await driver.list(), []);
    await driver.destroy(spec.id, { graceMs: 10_000 });
    await driver.forget(spec.id);
  });

  test(`${name}: making what is there, running or over, changes nothing`, async () => {
    await using harness = await start();
    const { driver } = await harness.open();
    const spec = specOf(await harness.source(WAITING_BOT));
    await Promise.all([driver.create(spec), driver.create(spec)]);
    const { address } = await listening(driver, spec.id);
    await driver.create(spec);
    assert.equal((await driver.list()).length, 1);
    assert.equal((await listening(driver, spec.id)).address, address);
    await driver.destroy(spec.id, { graceMs: 10_000 });
    await driver.create(spec);
    assert.equal((await only(driver)).state, "exited");
  });

  test(`${name}: what one controller made, the next one finds`, async () => {
    await using harness = await start();
    const { driver: before } = await harness.open();
    const { driver: after, records } = await harness.open();
    const spec = specOf(await harness.source(WAITING_BOT));
    await before.create(spec);
    const { address } = await listening(after, spec.id);
    const sessionId = randomUUID();
    await ask(address, "/instance/start", spec.token, startOf(sessionId));
    await until(() => records.aliveRecord(spec.id), 20_000, "sign of life");
    assert.equal(await records.exitRecord(spec.id, sessionId), undefined);
    await after.destroy(spec.id, { graceMs: 10_000 });
    assert.equal((await only(after)).state, "exited");
    assert.equal((await records.exitRecord(spec.id, sessionId))?.reason, "shutdown");
    await forgetInstance({ driver: after, records }, spec.id);
    assert.deepEqual(await before.list(), []);
    assert.equal(await records.exitRecord(spec.id, sessionId), undefined);
    await forgetInstance({ driver: after, records }, spec.id);
  });

  test(`${name}: an instance whose bot does not load says why`, async () => {
    await using harness = await start();
    const { driver } = await harness.open();
    const spec = specOf(await harness.source(`throw new Error("no such model");`));
    await driver.create(spec);
    const { exit } = await exited(driver);
    assert.equal(exit?.code, 1);
    assert.equal(exit?.outOfMemory, false);
    assert.match(exit?.lastOutput ?? "", /no such model/);
  });

  test(`${name}: a boot that hardly gets the processor is told from one that hangs`, async (t) => {
    await using harness = await start();
    if (harness.tellsStarvation === false) return t.skip("it does not tell");
    const { driver } = await harness.open();
    const spec = specOf(await harness.source(CROWDED_BOT));
    await driver.create(spec);
    await listening(driver, spec.id);
    const { starvedMs = 0 } = await only(driver);
    assert.ok(starvedMs > 1_000, `it waited ${starvedMs} ms`);
    await driver.destroy(spec.id, { graceMs: 10_000 });
    return undefined;
  });

  test(`${name}: one that does not end when asked is killed`, async () => {
    await using harness = await start();
    const { driver } = await harness.open();
    const spec = specOf(await harness.source(`process.on("SIGTERM", () => {}); for (;;);`));
    await driver.create(spec);
    await driver.destroy(spec.id, { graceMs: 300 });
    assert.equal((await only(driver)).state, "exited");
  });

  test(`${name}: a bot has its environment and nothing else of ours`, async () => {
    await using harness = await start();
    const { driver } = await harness.open();
    const source = await harness.source(SPEAKING_BOT);
    const specs = ["one", "two"].map((secret) => specOf(source, { environment: { SECRET: secret } }));
    for (const spec of specs) await driver.create(spec);
    for (const spec of specs) {
      const { address } = await listening(driver, spec.id);
      const seen = (await ask(address, "/environment", spec.token)) as Record<string, string>;
      assert.equal(seen["SECRET"], spec.environment["SECRET"]);
      assert.equal(seen["ENV"], "production");
      assert.deepEqual(
        // Its instance may be named, so that what it starts can be found.
        Object.keys(seen).filter((key) => /VOCALHOST(?!_ORIGIN$)|TOKEN|NODE_TEST/.test(key)),
        [],
      );
    }
  });

  test(`${name}: what it prints can be read line by line, also after its end`, async () => {
    await using harness = await start();
    const { driver, records } = await harness.open();
    const spec = specOf(await harness.source(SPEAKING_BOT));
    await driver.create(spec);
    const { nextPosition, lines } = await until(
      async () => {
        const chunk = await records.output(spec.id, 0);
        return chunk.lines.length >= 2 && chunk;
      },
      20_000,
      "lines",
    );
    assert.deepEqual(
      lines.map(({ text }) => text),
      ["first line", "second line"],
    );
    assert.equal(lines[0]?.position, 0);
    assert.deepEqual(await records.output(spec.id, nextPosition), { lines: [], nextPosition });
    await driver.destroy(spec.id, { graceMs: 10_000 });
    const rest = await (await harness.open()).records.output(spec.id, nextPosition);
    assert.equal(rest.lines[0]?.text, "last ä");
    assert.equal(rest.lines[0]?.position, nextPosition);
    assert.deepEqual((await records.output(spec.id, rest.nextPosition)).lines, []);
  });

  test(`${name}: a controller that no longer leads makes and ends nothing`, async () => {
    await using harness = await start();
    const [{ driver: old }, { driver: young }] = [await harness.open(), await harness.open()];
    await old.fence(1);
    const spec = specOf(await harness.source(WAITING_BOT));
    await old.create(spec);
    await young.fence(2);
    assert.equal(await old.newestEpoch(), 2);
    const isStale = (error: unknown): boolean => isAppError(error) && error.code === "EPOCH_STALE";
    await assert.rejects(old.create(specOf(spec.source)), isStale);
    await assert.rejects(old.destroy(spec.id, { graceMs: 0 }), isStale);
    await assert.rejects(old.fence(1), isStale);
    assert.equal((await only(young)).state, "running");
    await young.destroy(spec.id, { graceMs: 10_000 });
  });

  test(`${name}: listeners are told when something changed`, async () => {
    await using harness = await start();
    const { driver } = await harness.open();
    const seen = new Set<string>();
    const look = async (): Promise<void> => {
      for (const { state, address } of await driver.list()) seen.add(address ? state : "without address");
    };
    driver.onChange(() => void look().catch(() => undefined)); // the end of the driver may cut off the last one
    const spec = specOf(await harness.source(WAITING_BOT));
    await driver.create(spec);
    await until(() => seen.has("running"), 20_000, "news of the address");
    await driver.destroy(spec.id, { graceMs: 10_000 });
    await until(() => seen.has("exited"), 20_000, "news of the end");
  });

  test(`${name}: what is paused does not answer until it is woken, and can be ended`, async (t) => {
    await using harness = await start();
    const { driver } = await harness.open();
    if (!driver.pause || !driver.wake) return t.skip("it cannot pause");
    const spec = specOf(await harness.source(WAITING_BOT));
    await driver.create(spec);
    const { address } = await listening(driver, spec.id);
    await driver.wake(spec.id);
    await driver.pause(spec.id);
    await driver.pause(spec.id);
    const { driver: next } = await harness.open();
    assert.deepEqual(await next.list(), [
      { id: spec.id, state: "running", address, exit: undefined, isPaused: true },
    ]);
    await assert.rejects(fetch(`http://${address}/instance`, { signal: AbortSignal.timeout(500) }));
    await next.wake?.(spec.id);
    await ask(address, "/instance", spec.token);
    assert.equal((await only(next)).isPaused, undefined);
    // The last request wins, in whichever order they arrive.
    await Promise.all([driver.pause(spec.id), driver.wake(spec.id)]);
    await ask(address, "/instance", spec.token);
    await driver.pause(spec.id);
    await driver.destroy(spec.id, { graceMs: 10_000 });
    assert.deepEqual([(await only(driver)).state, (await only(driver)).exit?.code], ["exited", 0]);
    return undefined;
  });

  test(`${name}: memory and CPU time are limited where the driver says so`, async (t) => {
    await using harness = await start();
    const { driver } = await harness.open();
    if (harness.keepsLimits === false) return t.skip("instances have no limits here");
    const { cpuLimit, memoryLimit } = driver.capabilities;
    if (memoryLimit) {
      const bot = `const kept = []; for (;;) kept.push(Buffer.alloc(8 * 1024 * 1024, 1));`;
      const spec = specOf(await harness.source(bot), { memoryMib: 200 });
      await driver.create(spec);
      const { exit } = await exited(driver);
      assert.equal(exit?.outOfMemory, true);
      await driver.forget(spec.id);
    }
    if (cpuLimit) {
      const spec = specOf(await harness.source(BUSY_BOT), { cpuMillicores: 200 });
      await driver.create(spec);
      const { address } = await listening(driver, spec.id);
      await driver.wake?.(spec.id); // as the service does before a session
      const { share } = (await ask(address, "/burn", spec.token)) as { share: number };
      assert.ok(share < 0.4, `it got ${share} of a core`);
    }
    if (!cpuLimit && !memoryLimit) t.skip("no limits on this machine");
    return undefined;
  });
}

// For six seconds, more threads than there are processors keep its main thread waiting.
const CROWDED_BOT = `
import { availableParallelism } from "node:os";
import { setImmediate } from "node:timers/promises";
import { Worker } from "node:worker_threads";
const crowd = Array.from({ length: 8 * availableParallelism() }, () => new Worker("for (;;);", { eval: true }));
const sinceMs = performance.now();
while (performance.now() - sinceMs < 6_000) await setImmediate();
await Promise.all(crowd.map((worker) => worker.terminate()));
export async function bot() {}
`;

const BUSY_BOT = `
import { app } from "vocalhost/runner";
app.get("/burn", async () => {
  const [wall, cpu] = [performance.now(), process.cpuUsage()];
  while (performance.now() - wall < 1_500);
  const { user, system } = process.cpuUsage(cpu);
  return { share: (user + system) / 1000 / (performance.now() - wall) };
});
export async function bot() {}
`;

export function specOf(source: InstanceSource, changes: Partial<InstanceSpec> = {}): InstanceSpec {
  return {
    id: randomUUID(),
    source,
    environment: {},
    token: randomUUID(),
    cpuMillicores: 1_000,
    memoryMib: 1_024,
    heartbeatMs: 200,
    aloneMs: 60_000,
    ...changes,
  };
}

/** The instance once it takes requests. */
export function listening(driver: Driver, id: string): Promise<{ address: string }> {
  return until(
    async () => {
      const seen = (await driver.list()).find((instance) => instance.id === id);
      if (seen?.state === "exited") throw new Error(`It ended: ${JSON.stringify(seen.exit)}`);
      return seen?.address === undefined ? undefined : { address: seen.address };
    },
    20_000,
    "address",
  );
}

async function only(driver: Driver): Promise<SeenInstance> {
  const [seen, ...others] = await driver.list();
  assert.ok(seen && others.length === 0);
  return seen;
}

export function exited(driver: Driver): Promise<SeenInstance> {
  return until(
    async () => {
      const seen = await only(driver);
      return seen.state === "exited" && seen;
    },
    20_000,
    "end",
  );
}

function startOf(sessionId: string): object {
  return {
    epoch: 1,
    sessionId,
    transport: "websocket",
    connect: { kind: "socket" },
    maxDurationMs: 60_000,
    connectDeadlineMs: 60_000,
  };
}

async function ask(address: string, path: string, token: string, body?: object): Promise<unknown> {
  const response = await fetch(`http://${address}${path}`, {
    headers: { authorization: `Bearer ${token}`, ...(body ? { "content-type": "application/json" } : {}) },
    ...(body ? { method: "POST", body: JSON.stringify(body) } : {}),
  });
  assert.equal(response.status, 200);
  return response.json();
}
