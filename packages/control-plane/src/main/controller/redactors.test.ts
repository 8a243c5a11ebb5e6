import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { type Log, silentLog } from "@vocalhost/base/log";
import { openMemoryStore } from "@vocalhost/store/sqlite";
import { systemClock } from "@vocalhost/base/system-clock";
import { createRedactors } from "./redactors.ts";

interface Deployed {
  id: string;
  secretSet: string;
  organizationId?: string;
}

type Secrets = Record<string, string>;

async function openWorld(
  deployed: readonly Deployed[],
  options: { secrets: Record<string, Secrets>; log?: Log },
) {
  const store = await openMemoryStore();
  for (const { id, secretSet, organizationId = "o" } of deployed)
    await store.db
      .insertInto("deployments")
      .values({
        ...{ id, organizationId, agentId: "a", phase: "Retired", phaseStartedAt: 0, crashes: 0 },
        ...{ lastCrashAt: null, lastExitCode: null, crashText: null, failureCode: null, failureText: null },
        ...{ progressText: null, version: 1, createdAt: 0, updatedAt: 0 },
        spec: JSON.stringify({
          ...{ image: "i", buildId: null, nodeType: "arm", imagePullSecretSet: null, secretSet },
          ...{ secretVersion: 3, agentProfile: "agent-1x", audioFilter: null, maxSessionDurationS: 7_200 },
          ...{ websocketAuth: "token", pinned: null },
        }),
      })
      .execute();
  const world = { laterMs: 0, reads: 0 };
  const redactors = createRedactors({
    store,
    log: options.log ?? silentLog,
    clock: { ...systemClock, monotonicMs: () => performance.now() + world.laterMs },
    async secretsOf(_organizationId, name) {
      world.reads += 1;
      return options.secrets[name] ?? {};
    },
  });
  return Object.assign(world, {
    ...redactors,
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  });
}

test("a set too large to be hidden is named in the log, once, and without its values", async () => {
  const values = Array.from({ length: 160 }, () => randomBytes(24 * 1024).toString("base64"));
  const lines: unknown[][] = [];
  await using world = await openWorld(
    ["first", "second"].map((id) => ({ id, secretSet: "large" })),
    {
      secrets: { large: Object.fromEntries(values.map((value, at) => [`KEY_${at}`, value])) },
      log: { ...silentLog, warn: (...line: unknown[]) => void lines.push(line) },
    },
  );
  for (const id of ["first", "second", "first"]) await world.redactorOf(id);
  assert.equal(lines.length, 1);
  const said = JSON.stringify(lines);
  assert.match(said, /"secretSet":"large","secretVersion":3/);
  assert.ok(values.every((value) => !said.includes(value)));
});

test("what many deployments share is made ready once", async () => {
  const ids = Array.from({ length: 12 }, (_, at) => `d${at}`);
  const value = randomBytes(256 * 1024).toString("hex");
  await using world = await openWorld(
    ids.map((id) => ({ id, secretSet: "shared" })),
    { secrets: { shared: { KEY: value } } },
  );
  for (let round = 0; round < 3; round += 1)
    for (const id of ids) assert.equal((await world.redactorOf(id))(`a ${value}`), "a [redacted]");
  assert.equal(world.reads, 1);
});

test("what a set has is hidden also when it was deleted and made again under its name", async () => {
  const secrets: Record<string, Secrets> = { bot: { KEY: "first-secret" } };
  await using world = await openWorld([{ id: "d", secretSet: "bot" }], { secrets });
  assert.equal((await world.redactorOf("d"))("first-secret"), "[redacted]");
  secrets["bot"] = { KEY: "second-secret" };
  assert.deepEqual(await world.secretsOf("o" as never, "bot", 3), { KEY: "second-secret" }); // for a new instance
  const redact = await world.redactorOf("d");
  assert.equal(redact("first-secret second-secret"), "[redacted] [redacted]");
});

test("more than one organisation's share is withheld, and costs others nothing", async () => {
  const large = (name: string): Secrets => ({ KEY: `${"%".repeat(900_000)}${name}` });
  const names = ["one", "two", "three"];
  await using world = await openWorld(
    [
      ...names.map((name) => ({ id: name, secretSet: name })),
      { id: "other", secretSet: "theirs", organizationId: "p" },
    ],
    {
      secrets: {
        ...Object.fromEntries(names.map((name) => [name, large(name)])),
        theirs: { KEY: "their-secret" },
      },
    },
  );
  for (let round = 0; round < 3; round += 1) {
    for (const id of ["one", "two"]) assert.equal((await world.redactorOf(id))("text"), "text");
    assert.match((await world.redactorOf("three"))("text"), /^\[withheld/);
    assert.equal((await world.redactorOf("other"))("their-secret"), "[redacted]");
  }
  assert.equal(world.reads, 4);
  world.laterMs = 61_000; // the first two were not used meanwhile
  assert.equal((await world.redactorOf("three"))("text"), "text");
});
