import assert from "node:assert/strict";
import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { createTestClock } from "@vocalhost/base/testing/test-clock";
import { openPeople } from "../../identity/people.ts";
import { silentLog } from "@vocalhost/base/log";
import { openMemoryStore } from "@vocalhost/store/sqlite";
import { firstRun, openOwnerLink } from "./first-run.ts";

test("the printed owner link outlives controllers, until it expires", async () => {
  await using store = await openMemoryStore();
  await using folder = await mkdtempDisposable(join(tmpdir(), "first-run-"));
  const clock = createTestClock();
  const publicUrl = "http://localhost";
  const secret = "x".repeat(32);
  const people = openPeople({ store, clock, log: silentLog, baseUrl: publicUrl, secret });
  const about = () => ({ store, people, publicUrl, dataFolder: folder.path, nowMs: clock.now });

  const made = await firstRun(about());
  assert.equal(await openOwnerLink(about()), made?.ownerLink);
  assert.equal(await openOwnerLink(about()), made?.ownerLink);

  clock.now += 25 * 3_600_000;
  const next = await openOwnerLink(about());
  assert.notEqual(next, made?.ownerLink);
  assert.equal(await openOwnerLink(about()), next);
});
