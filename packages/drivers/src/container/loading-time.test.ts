import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { silentLog } from "@vocalhost/base/log";
import { labels } from "./container-options.ts";
import type { ListedContainer } from "./engine-answers.ts";
import type { Engine } from "./engine.ts";
import { KnownContainers } from "./known-containers.ts";
import { LOADING_MAX_MS, LOADING_MILLICORES } from "../loading.ts";
import { createLoadingTime } from "./loading-time.ts";

test("an instance loads with more than its profile, and has its profile before it gets a session", async () => {
  const engine = limitingEngine();
  const loading = createLoadingTime({ engine, nameOf: (id) => `name-${id}`, log: silentLog });
  assert.equal(loading.millicores(500), LOADING_MILLICORES);
  assert.equal(loading.millicores(4_000), 4_000);
  await loading.ended("a"); // not yet observed
  loading.end("a", 500);
  loading.end("a", 500);
  let isEnded = false;
  const ended = loading.ended("a").then(() => (isEnded = true));
  await Promise.resolve();
  assert.equal(isEnded, false);
  engine.answer();
  await ended;
  loading.end("a", 500);
  assert.deepEqual(engine.asked, [["name-a", 500]]);
});

test("one that cannot be held to its profile gets no session, and is asked about again", async () => {
  const engine = limitingEngine();
  const loading = createLoadingTime({ engine, nameOf: (id) => id, log: silentLog });
  loading.end("a", 500);
  engine.answer(new Error("no such group"));
  await assert.rejects(loading.ended("a"), /no such group/);
  const again = loading.ended("a");
  engine.answer(new Error("no such group"));
  await assert.rejects(again, /no such group/);
  const better = loading.ended("a");
  engine.answer();
  await better;
  assert.equal(engine.asked.length, 3);
});

test("an engine that cannot limit later gives its profile from the start", async () => {
  const engine = Object.assign(limitingEngine(), { limitsCpuLater: false });
  const loading = createLoadingTime({ engine, nameOf: (id) => id, log: silentLog });
  assert.equal(loading.millicores(500), 500);
  loading.end("a", 500);
  await loading.ended("a");
  assert.deepEqual(engine.asked, []);
});

test("one that never takes requests does not keep what it has for loading", async () => {
  const root = mkdtempSync(join(tmpdir(), "loading-time-"));
  try {
    const loaded: unknown[] = [];
    const known = new KnownContainers({
      ...{ root, engine: limitingEngine(), nameOf: (id) => id, log: silentLog, paused: () => undefined },
      loaded: (...what) => loaded.push(what),
    });
    await known.see("young", running(Date.now()));
    assert.deepEqual(loaded, []);
    await known.see("old", running(Date.now() - LOADING_MAX_MS - 1_000));
    assert.deepEqual(loaded, [["old", 500]]);
  } finally {
    rmSync(root, { recursive: true });
  }
});

function running(createdMs: number): ListedContainer {
  return {
    State: "running",
    Created: createdMs / 1000,
    Labels: { [labels.cpuMillicores]: "500" },
  } as unknown as ListedContainer;
}

/** An engine that can only set limits, and answers when `answer` is called. */
function limitingEngine() {
  const asked: [string, number][] = [];
  let waiting = Promise.withResolvers<void>();
  return Object.assign({ limitsCpuLater: true } as Engine, {
    asked,
    limitCpu(name: string, millicores: number): Promise<void> {
      asked.push([name, millicores]);
      waiting = Promise.withResolvers();
      return waiting.promise;
    },
    answer(error?: Error): void {
      if (error) waiting.reject(error);
      else waiting.resolve();
    },
  });
}
