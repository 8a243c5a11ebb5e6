import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../../../testing/wait.ts";
import { silentLog } from "@vocalhost/base/log";
import { DriverUnavailableError, type InstanceSpec, type OpenedDriver, type SeenInstance } from "./driver.ts";
import { openRegionalDriver } from "./regional.ts";

test("instances are made, found and ended in their region", async () => {
  const bench = await start();
  const { driver, records } = bench;
  await driver.create(specIn("north", "one"));
  await driver.create(specIn("south", "two"));
  assert.deepEqual(
    (await driver.list()).map(({ id, region }) => [id, region]),
    [
      ["one", "north"],
      ["two", "south"],
    ],
  );
  await driver.destroy("two", { graceMs: 0 });
  assert.deepEqual(bench.told, ["north create one", "south create two", "south destroy two"]);
  assert.equal((await records.output("two", 0)).lines[0]?.text, "of south");
  await assert.rejects(driver.create(specIn("west", "three")), /No region 'west'/);
});

test("a region that is down is told, keeps what was seen of it, and the others go on", async () => {
  const bench = await start();
  const { driver } = bench;
  await driver.create(specIn("north", "one"));
  await driver.create(specIn("south", "two"));
  await driver.list();
  bench.fail("south", "the engine is away");
  assert.deepEqual((await driver.list()).map(({ id }) => id).toSorted(), ["one", "two"]);
  assert.deepEqual(driver.regional?.away(), new Set(["south"]));
  await assert.rejects(driver.create(specIn("south", "three")), DriverUnavailableError);
  await driver.create(specIn("north", "four"));
  bench.fail("south", undefined);
  await until(async () => (await driver.list(), driver.regional?.away().size === 0), 5_000, "region back");
  await driver.create(specIn("south", "three"));
});

test("a region that could not be opened is opened later, behind the same fence", async () => {
  const bench = await start({ closed: "south" });
  const { driver } = bench;
  assert.deepEqual(driver.regional?.away(), new Set(["south"]));
  assert.deepEqual(driver.regional?.in("south").capabilities.runs, ["image"]);
  await driver.fence(7);
  assert.equal(await driver.newestEpoch(), 7);
  bench.open("south");
  await until(async () => (await driver.list(), driver.regional?.away().size === 0), 5_000, "region opened");
  assert.deepEqual(bench.epochs, { north: 7, south: 7 });
  await assert.rejects(
    start({ closed: "both" }),
    /cannot be opened/,
    "none of them: then there is no service",
  );
});

function specIn(region: string, id: string): InstanceSpec {
  return {
    ...{
      id,
      region,
      environment: {},
      token: "t",
      cpuMillicores: 1,
      memoryMib: 1,
      heartbeatMs: 1,
      aloneMs: 1,
    },
    source: { kind: "build", folder: "/" },
  };
}

async function start({ closed = "" } = {}) {
  const told: string[] = [];
  const failures = new Map<string, string>();
  const epochs: Record<string, number> = {};
  const closedOnes = new Set(closed === "both" ? ["north", "south"] : [closed]);
  const opened = await openRegionalDriver({
    log: silentLog,
    retryMs: 0,
    regions: ["north", "south"].map((code) => ({
      code,
      runs: ["image"],
      open: async () => {
        if (closedOnes.has(code)) throw new Error(`${code} cannot be opened`);
        return openFake(code);
      },
    })),
  });

  function openFake(code: string): OpenedDriver {
    const seen = new Map<string, SeenInstance>();
    return {
      driver: {
        capabilities: { runs: ["image"], cpuLimit: true, memoryLimit: true, isolation: "container" },
        fence: async (epoch) => void (epochs[code] = epoch),
        newestEpoch: async () => epochs[code] ?? 0,
        onChange: () => undefined,
        async create({ id }) {
          told.push(`${code} create ${id}`);
          seen.set(id, { id, state: "running", address: undefined, exit: undefined });
        },
        async list() {
          const why = failures.get(code);
          if (why !== undefined) throw new DriverUnavailableError(why);
          return [...seen.values()];
        },
        destroy: async (id) => void told.push(`${code} destroy ${id}`),
        forget: async (id) => void seen.delete(id),
      },
      records: {
        exitRecord: async () => undefined,
        aliveRecord: async () => undefined,
        output: async () => ({ lines: [{ position: 0, text: `of ${code}` }], nextPosition: 1 }),
        makeSpace: async () => 0,
        remove: async () => undefined,
      },
      [Symbol.asyncDispose]: async () => undefined,
    };
  }

  return {
    ...opened,
    told,
    epochs,
    fail: (code: string, why: string | undefined) =>
      why === undefined ? failures.delete(code) : failures.set(code, why),
    open: (code: string) => closedOnes.delete(code),
  };
}
