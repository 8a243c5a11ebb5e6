import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { test } from "node:test";
import { within } from "../../../../testing/wait.ts";
import { silentLog } from "@vocalhost/base/log";
import type { Cluster } from "./cluster.ts";
import { createNames } from "./names.ts";
import { PodOutput, type PodOutputOptions } from "./pod-output.ts";

test("nothing is remembered of one that was removed", async () => {
  const root = mkdtempSync(join(tmpdir(), "pod-output-"));
  let printed = "first";
  const cluster: Partial<Cluster> = {
    stream: async () => Readable.from([Buffer.from(`2026-01-01T00:00:00Z ${printed}\n`)]) as IncomingMessage,
  };
  using output = new PodOutput({
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
  using output = new PodOutput({
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

test("one that is removed while it prints is no longer followed, and nothing of it comes back", async () => {
  const root = mkdtempSync(join(tmpdir(), "pod-output-"));
  const warnings: string[] = [];
  const printed = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const cluster: Partial<Cluster> = {
    async stream({ signal }) {
      async function* lines() {
        yield Buffer.from("2026-01-01T00:00:00Z a line\n");
        printed.resolve();
        await once(signal ?? assert.fail(), "abort");
        ended.resolve();
        // As a connection does that has something left.
        yield Buffer.from("2026-01-01T00:00:01Z another\n");
      }
      return Readable.from(lines()) as IncomingMessage;
    },
  };
  using output = new PodOutput({
    root,
    cluster: cluster as Cluster,
    names: createNames("vocalhost"),
    stateOf: () => "over",
    log: { ...silentLog, warn: (_fields, sentence) => void warnings.push(sentence) },
  });
  output.follow("i-1");
  await printed.promise;
  const removed = output.remove("i-1");
  output.follow("i-1"); // a request during the removal does not create it again
  await within(Promise.all([removed, ended.promise]), 10_000, "end of the follower");
  assert.ok(!existsSync(join(root, "i-1")), "nothing of it is left");
  assert.deepEqual(warnings, []);
  rmSync(root, { recursive: true });
});

test("folders that nobody needs any more are swept, those of others are kept", async () => {
  const root = mkdtempSync(join(tmpdir(), "pod-output-"));
  using output = new PodOutput({
    ...{ root, cluster: {} as Cluster, names: createNames("vocalhost"), log: silentLog },
    stateOf: () => "gone",
  });
  for (const id of ["i-1", "i-2", "i-3"]) mkdirSync(join(root, id));
  writeFileSync(join(root, "i-3", "output"), "of a pod that another controller has forgotten\n");
  await output.keepOnly(new Set(["i-2"]));
  assert.deepEqual(readdirSync(root), ["i-2"]);
  rmSync(root, { recursive: true });
});
