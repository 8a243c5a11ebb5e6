import assert from "node:assert/strict";
import { test } from "node:test";
import type { SeenInstance } from "@vocalhost/drivers/driver";
import type { InstanceRow } from "@vocalhost/store/schema";
import { BootSlots, slotsAfter } from "./boot-slots.ts";
import { instance, running } from "./testing/check-plan.ts";

const HERE = "us-west";

test("a core has a slot, and more while boots hardly wait for the processor", () => {
  const count = (boots: [tookMs: number, starvedMs: number | undefined][], cores = 2): number =>
    boots.reduce((slots, [tookMs, starvedMs]) => slotsAfter({ tookMs, starvedMs }, { cores, slots }), cores);
  const quick = (times: number) => Array.from({ length: times }, (): [number, number] => [400, 100]);
  assert.equal(count(quick(3)), 5);
  assert.equal(count(quick(99)), 16, "more would not be there any sooner");
  assert.equal(count(quick(99), 64), 64, "but on a machine of so many");
  assert.equal(count([...quick(3), [9_000, 6_000], [9_000, 6_000]]), 3);
  assert.equal(count([...quick(3), [9_000, 200]]), 6, "it waited for something else");
  assert.equal(count(Array.from({ length: 9 }, () => [9_000, 9_000])), 2, "one of each core at least");
  assert.equal(count([...quick(3), [9_000, undefined]]), 4, "unknown: a long one says enough");
});

test("a slot is held until it is ready, gone, or has had its time", () => {
  const slots = new BootSlots({ coresIn: () => 2 });
  const look = (monotonicMs: number, rows: InstanceRow[], seen: SeenInstance[], making: string[] = []) =>
    slots.look({
      pools: [{ agent: { region: HERE }, instances: rows }],
      seen: new Map(seen.map((object) => [object.id, object])),
      beingMade: new Map(making.map((id) => [id, id])),
      monotonicMs,
    });
  const rows = (state: InstanceRow["state"]) => ["a", "b"].map((id) => instance({ id, state }));
  for (const row of rows("requested")) slots.begin(row, { region: HERE, monotonicMs: 0 });
  look(10, rows("requested"), [], ["a"]);
  assert.equal(slots.left(HERE), 0, "made or being made");
  look(1_000, rows("starting"), [running("a"), running("b")]);
  assert.equal(slots.left(HERE), 0, "on their way");
  look(11_000, rows("starting"), [running("a"), { ...running("b"), starvedMs: 2_000 }]);
  assert.equal(slots.left(HERE), 1, "one waits for something else than the processor");
  look(12_000, rows("starting"), [running("a")]);
  assert.equal(slots.left(HERE), 2, "the other one is gone, and yet to be made again");
  look(13_000, [instance({ id: "c", state: "starting" })], [running("c")]);
  assert.deepEqual(
    slots.holders().map(({ id }) => id),
    ["c"],
    "made by an earlier controller",
  );
  look(13_400, [instance({ id: "c", state: "ready" })], [{ ...running("c"), starvedMs: 10 }]);
  assert.equal(slots.left(HERE), 3, "quick, so that there is one more");
});

test("an instance that takes long to make, as with a large build to fetch, does not keep its slot", () => {
  const slots = new BootSlots({ coresIn: () => 1 });
  const made = instance({ id: "a", state: "requested" });
  slots.begin(made, { region: HERE, monotonicMs: 0 });
  const look = (monotonicMs: number) =>
    slots.look({
      pools: [{ agent: { region: HERE }, instances: [made] }],
      seen: new Map(),
      beingMade: new Map([["a", made]]),
      monotonicMs,
    });
  look(9_000);
  assert.equal(slots.left(HERE), 0);
  look(11_000);
  assert.equal(slots.left(HERE), 1);
});

test("a bot that starves its own main thread does not keep its slot", () => {
  const slots = new BootSlots({ coresIn: () => 1 });
  const row = instance({ id: "a", state: "starting" });
  const look = (monotonicMs: number) =>
    slots.look({
      pools: [{ agent: { region: HERE }, instances: [row] }],
      seen: new Map([["a", { ...running("a"), starvedMs: monotonicMs * 0.99 }]]),
      beingMade: new Map(),
      monotonicMs,
    });
  slots.begin(row, { region: HERE, monotonicMs: 0 });
  look(59_000);
  assert.equal(slots.left(HERE), 0);
  look(61_000);
  assert.equal(slots.left(HERE), 1);
});

test("a cluster finds room by itself", () => {
  const slots = new BootSlots({ coresIn: () => undefined });
  slots.begin(instance({ id: "a", state: "requested" }), { region: HERE, monotonicMs: 0 });
  assert.equal(slots.left(HERE), Infinity);
});
