import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { silentLog } from "../log.ts";
import { openMemoryStore } from "../store/sqlite.ts";
import { createRedactors } from "./redactors.ts";

test("a set too large to be hidden is named in the log, once, and without its values", async () => {
  await using store = await openMemoryStore();
  for (const id of ["first", "second"])
    await store.db
      .insertInto("deployments")
      .values({
        ...{ id, organizationId: "o", agentId: "a", phase: "Retired", phaseStartedAt: 0, crashes: 0 },
        ...{ lastCrashAt: null, lastExitCode: null, crashText: null, failureCode: null, failureText: null },
        ...{ progressText: null, version: 1, createdAt: 0, updatedAt: 0 },
        spec: JSON.stringify({
          ...{ image: "i", buildId: null, nodeType: "arm", imagePullSecretSet: null, secretSet: "large" },
          ...{ secretVersion: 3, agentProfile: "agent-1x", audioFilter: null, maxSessionDurationS: 7_200 },
          ...{ websocketAuth: "token", pinned: null },
        }),
      })
      .execute();
  const values = Array.from({ length: 160 }, () => randomBytes(24 * 1024).toString("base64"));
  const lines: unknown[][] = [];
  const redactorOf = createRedactors({
    store,
    log: { ...silentLog, warn: (...line: unknown[]) => void lines.push(line) },
    secretsOf: async () => Object.fromEntries(values.map((value, at) => [`KEY_${at}`, value])),
  });
  for (const id of ["first", "second", "first"]) await redactorOf(id);
  assert.equal(lines.length, 1);
  const said = JSON.stringify(lines);
  assert.match(said, /"secretSet":"large","secretVersion":3/);
  assert.ok(values.every((value) => !said.includes(value)));
});
