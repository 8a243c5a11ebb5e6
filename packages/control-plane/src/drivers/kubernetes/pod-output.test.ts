import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { test } from "node:test";
import { silentLog } from "../../log.ts";
import type { Cluster } from "./cluster.ts";
import { createNames } from "./names.ts";
import { createPodOutput, type PodOutputOptions } from "./pod-output.ts";

test("nothing is remembered of one that was removed", async () => {
  const root = mkdtempSync(join(tmpdir(), "pod-output-"));
  let printed = "first";
  const cluster: Partial<Cluster> = {
    stream: async () => Readable.from([Buffer.from(`2026-01-01T00:00:00Z ${printed}\n`)]) as IncomingMessage,
  };
  using output = createPodOutput({
    ...{ root, cluster: cluster as Cluster, names: createNames("vocalhost"), log: silentLog },
    stateOf: () => "over",
  });
  for (const text of ["first", "second"]) {
    printed = text;
    await output.whole("i-1");
    assert.deepEqual((await output.read("i-1", 0)).lines, [{ position: 0, text }]);
    await output.remove("i-1");
  }
  rmSync(root, { recursive: true });
});

test("one that goes before it has begun has no output, and nobody misses any", async () => {
  const root = mkdtempSync(join(tmpdir(), "pod-output-"));
  let state: ReturnType<PodOutputOptions["stateOf"]> = "waiting";
  const warnings: string[] = [];
  const cluster: Partial<Cluster> = { stream: () => Promise.reject(new Error("there is no such pod")) };
  using output = createPodOutput({
    root,
    cluster: cluster as Cluster,
    names: createNames("vocalhost"),
    stateOf: () => state,
    log: { ...silentLog, warn: (_fields, sentence) => void warnings.push(sentence) },
  });
  await output.read("i-1", 0); // looks for it from now on
  const whole = output.whole("i-1");
  state = "gone";
  await output.remove("i-1");
  await whole;
  assert.deepEqual(warnings, []);
  assert.ok(!existsSync(join(root, "i-1")), "nothing of it is left");
  rmSync(root, { recursive: true });
});
