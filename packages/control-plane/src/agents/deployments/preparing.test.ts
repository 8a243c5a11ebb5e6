import assert from "node:assert/strict";
import { test } from "node:test";
import {
  DriverUnavailableError,
  SourceError,
  type InstanceSource,
  type PreparedSource,
  type PrepareOptions,
} from "@vocalhost/drivers/driver";
import { until } from "../../../../../testing/wait.ts";
import { createPreparing } from "./preparing.ts";

const SOURCE: InstanceSource = { kind: "image", reference: "team/bot:1", pullSecret: undefined };
const DONE: PreparedSource = { reference: "team/bot@sha256:1", labels: {} };

test("what takes long is asked for again until it is there, and only done once", async () => {
  const bench = start();
  assert.deepEqual(await bench.ask("one"), { working: "Preparing the image" });
  const pull = await bench.next();
  pull.options.progressed("Pulling the image, 50 %");
  assert.deepEqual(await bench.ask("one"), { working: "Pulling the image, 50 %" });
  pull.end.resolve(DONE);
  await until(async () => "done" in (await bench.ask("one")), 5_000, "image");
  assert.equal(bench.pulls.length, 1);
  assert.ok(bench.changes() >= 2);
});

test("a refusal is told once, and the deployment after it begins anew", async () => {
  const bench = start();
  await bench.ask("one");
  (await bench.next()).end.reject(new SourceError("IMAGE_NOT_FOUND", "There is none"));
  await assert.rejects(async () => {
    for (;;) await bench.ask("one");
  }, /There is none/);
  assert.deepEqual(await bench.ask("two"), { working: "Preparing the image" });
});

test("an engine that is away is asked again after a while", async () => {
  const bench = start();
  await bench.ask("one");
  (await bench.next()).end.reject(new DriverUnavailableError("The engine is away"));
  await until(async () => JSON.stringify(await bench.ask("one")).includes("away"), 5_000, "reason");
  assert.equal(bench.pulls.length, 1);
  bench.passMs(10_000);
  assert.deepEqual(await bench.ask("one"), { working: "The engine is away. Trying again." });
  assert.deepEqual(await bench.ask("one"), { working: "Preparing the image" });
  assert.equal(bench.pulls.length, 2);
});

test("what a newer deployment of the agent supersedes is given up; others are left alone", async () => {
  const bench = start();
  await bench.ask("one");
  await bench.ask("elsewhere", "another agent");
  await bench.ask("two");
  assert.deepEqual(
    bench.pulls.map(({ options }) => options.signal.aborted),
    [true, false, false],
  );
});

function start() {
  const pulls: { options: PrepareOptions; end: PromiseWithResolvers<PreparedSource> }[] = [];
  let [taken, changes, nowMs] = [0, 0, 0];
  const preparing = createPreparing({
    driver: {
      prepare(_source, options) {
        const end = Promise.withResolvers<PreparedSource>();
        pulls.push({ options, end });
        return end.promise;
      },
    },
    changed: () => void (changes += 1),
    nowMs: () => nowMs,
  });
  return {
    pulls,
    changes: () => changes,
    passMs: (ms: number) => void (nowMs += ms),
    ask: async (id: string, agentId = "agent") => {
      const answer = await preparing.prepare({ id, agentId, region: "this-machine" }, async () => SOURCE);
      await Promise.resolve();
      return answer;
    },
    next: () => until(() => pulls[taken] && pulls[taken++], 5_000, "pull"),
  };
}
