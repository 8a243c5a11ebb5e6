import assert from "node:assert/strict";
import { type KyselyPlugin, sql } from "kysely";
import { existsSync, mkdirSync, mkdtempDisposableSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { newInstanceRow } from "../../pools/claim.ts";
import { newSessionRow } from "../../sessions/session-row.ts";
import { silentLog } from "@vocalhost/base/log";
import type { AgentRow, BuildRow, DeploymentRow, SessionState } from "@vocalhost/store/schema";
import { countDiskMib } from "../../identity/quotas/used-quotas.ts";
import { openSqliteStore } from "@vocalhost/store/sqlite";
import type { Store } from "@vocalhost/store/store";
import { eachStore } from "@vocalhost/store/testing/each-store";
import { prune } from "./prune.ts";
import { DAY_MS, defaultRetention } from "./retention.ts";

const NOW_MS = Date.UTC(2026, 10, 16);
const daysAgo = (days: number): number => NOW_MS - days * DAY_MS;

eachStore((open) => {
  test("what is old goes, what is open, billed or needed stays", async () => {
    await using store = await open();
    using folder = mkdtempDisposableSync(join(tmpdir(), "vocalhost-prune-"));
    await fill(store);
    for (const id of ["build-of-0", "build-of-24", "nobody's"])
      oldFolder(join(folder.path, "builds", id), daysAgo(50));
    const keptImages = await pruneAll(store, { dataFolder: folder.path, nowMs: NOW_MS });
    // Images of kept builds and kept deployments: 1 to 4 are pruned.
    assert.deepEqual(keptImages, ["localhost/build-of-0", "localhost/build-of-24", "pinned:0", "pinned:24"]);
    const ids = async (table: "sessions" | "instances" | "builds" | "audit" | "outbox" | "apiKeys") =>
      (await store.db.selectFrom(table).select("id").orderBy("id").execute()).map(({ id }) => id);
    assert.deepEqual(await ids("sessions"), ["ended-399", "open-500"]);
    assert.deepEqual(await ids("instances"), ["live-31", "stopped-29"]);
    assert.deepEqual(await ids("audit"), ["audit-399"]);
    assert.deepEqual(await ids("apiKeys"), ["expired-399", "revoked-399", "usable"]);
    assert.deepEqual(await ids("outbox"), ["sent-29", "waiting-500"]);
    const deployments = await store.db.selectFrom("deployments").select("id").execute();
    assert.deepEqual(
      deployments.map(({ id }) => Number(id)).sort((one, other) => one - other),
      [0, ...Array.from({ length: 20 }, (_, index) => index + 5)],
    );
    assert.deepEqual(await ids("builds"), ["build-of-0", "build-of-24"]);
    assert.ok(existsSync(join(folder.path, "builds/build-of-0")));
    assert.ok(!existsSync(join(folder.path, "builds/nobody's")));
    assert.equal((await store.db.selectFrom("usage").selectAll().execute()).length, 1);
  });
});

eachStore((open) => {
  test("files that no row knows are moved aside, come back if a row knows them, and are removed late", async () => {
    await using store = await open();
    using folder = mkdtempDisposableSync(join(tmpdir(), "vocalhost-prune-"));
    const [place, aside] = ["builds/lost", "removed/builds/lost"].map((name) => join(folder.path, name));
    const at = (days: number, removesFiles = true) =>
      pruneAll(store, { dataFolder: folder.path, nowMs: NOW_MS + days * DAY_MS, removesFiles });
    const where = () => [place, aside].map((path) => existsSync(path!));
    oldFolder(place!, daysAgo(50));
    await at(0, false);
    assert.deepEqual(where(), [true, false]);
    await at(0);
    assert.deepEqual(where(), [false, true]);
    await store.db
      .insertInto("builds")
      .values({ ...build("lost"), updatedAt: NOW_MS })
      .execute();
    await at(0, false);
    assert.deepEqual(where(), [true, false]);
    await store.db.deleteFrom("builds").execute();
    await at(2);
    await at(31);
    assert.deepEqual(where(), [false, true]);
    await at(33);
    assert.deepEqual(where(), [false, false]);
  });
});

eachStore((open) => {
  test("a deleted agent gives back its disk soon and its deployments later, and its usage stays", async () => {
    await using store = await open();
    using folder = mkdtempDisposableSync(join(tmpdir(), "vocalhost-prune-"));
    const folderOf = (id: string): string => join(folder.path, "builds", id);
    await fillDeleted(store);
    for (const id of ["only-deleted", "shared", "asked-for-again", "still-runs"])
      mkdirSync(folderOf(id), { recursive: true });
    const idsOf = async (table: "builds" | "deployments" | "agents" | "sessions") =>
      (await store.db.selectFrom(table).select("id").orderBy("id").execute()).map(({ id }) => id);

    const keptImages = await pruneAll(store, { dataFolder: folder.path, nowMs: NOW_MS });
    assert.deepEqual(await idsOf("builds"), ["asked-for-again", "never-deployed", "shared", "still-runs"]);
    assert.ok(!existsSync(folderOf("only-deleted")), "its folder is gone with its row");
    for (const id of ["shared", "asked-for-again", "still-runs"]) assert.ok(existsSync(folderOf(id)), id);
    assert.equal(await countDiskMib(store.db, "o"), 4);
    assert.deepEqual(keptImages, [
      ...[
        "localhost/asked-for-again",
        "localhost/never-deployed",
        "localhost/shared",
        "localhost/still-runs",
      ],
      ...["pinned:living", "pinned:running"],
    ]);
    assert.equal((await idsOf("deployments")).length, 6, "whoever looks why it failed still finds them");

    await pruneAll(store, { dataFolder: folder.path, nowMs: NOW_MS + 31 * DAY_MS });
    assert.deepEqual(await idsOf("deployments"), ["living", "running"]);
    assert.deepEqual(await idsOf("builds"), ["shared", "still-runs"]);
    assert.deepEqual(await idsOf("agents"), ["billed", "living", "running"]);
    assert.deepEqual(await idsOf("sessions"), ["of-billed"]);
    assert.equal((await store.db.selectFrom("usage").selectAll().execute()).length, 1);
  });
});

eachStore((open) => {
  test("however much is old, starts never wait for more than a few hundred rows of it", async () => {
    await using store = await open();
    using folder = mkdtempDisposableSync(join(tmpdir(), "vocalhost-prune-"));
    const numbers = Array.from({ length: 1_200 }, (_, number) => number);
    const keyOf = (number: number) => ({ organizationId: "o", key: `key-${number}`, parametersHash: "" });
    const keys = numbers.map((number) => ({ ...keyOf(number), sessionId: "s", createdAt: 1 }));
    const tokens = numbers.map((number) => ({ id: `token-${number}`, expiresAt: 1 }));
    const samples = numbers.map((at) => ({ sessionId: "s", at, cpuMillicores: 1, memoryBytes: 1 }));
    await store.db.insertInto("idempotency").values(keys).execute();
    await store.db.insertInto("usedTokens").values(tokens).execute();
    await store.db.insertInto("samples").values(samples).execute();
    let most = 0n;
    const noting: KyselyPlugin = {
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        most = [most, result.numAffectedRows ?? 0n].reduce((one, other) => (one > other ? one : other));
        return result;
      },
    };
    const noted = { ...store, db: store.db.withPlugin(noting) };
    await pruneAll(noted, { dataFolder: folder.path, nowMs: NOW_MS });
    for (const table of ["idempotency", "usedTokens", "samples"] as const)
      assert.deepEqual(await store.db.selectFrom(table).selectAll().execute(), [], table);
    assert.equal(most, 500n);
  });
});

eachStore((open) => {
  test("however often an agent was deployed, its builds are found a few hundred deployments at a time", async () => {
    await using store = await open();
    using folder = mkdtempDisposableSync(join(tmpdir(), "vocalhost-prune-"));
    await fill(store);
    const numbers = Array.from({ length: 1_200 }, (_, number) => number);
    const nameOf = (number: number): string => `often-${number}`;
    const { spec: text } = deployment(0);
    const deployments = numbers.map((number): DeploymentRow => {
      const spec = JSON.stringify({
        ...JSON.parse(text),
        image: nameOf(number),
        buildId: null,
        pinned: null,
      });
      return { ...deployment(1), id: nameOf(number), spec, updatedAt: daysAgo(1) };
    });
    const builds = [...numbers.map(nameOf), "unneeded"].map((id) => ({
      ...build(id),
      updatedAt: daysAgo(50),
    }));
    for (let from = 0; from < numbers.length; from += 400)
      await store.db
        .insertInto("deployments")
        .values(deployments.slice(from, from + 400))
        .execute();
    for (let from = 0; from < builds.length; from += 400)
      await store.db
        .insertInto("builds")
        .values(builds.slice(from, from + 400))
        .execute();
    let most = 0;
    const noting: KyselyPlugin = {
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        most = Math.max(most, ...(result.rows.some((row) => "spec" in row) ? [result.rows.length] : []));
        return result;
      },
    };
    const noted = { ...store, db: store.db.withPlugin(noting), search: store.search.withPlugin(noting) };
    await pruneAll(noted, { dataFolder: folder.path, nowMs: NOW_MS });
    assert.equal(most, 500);
    const left = await store.db
      .selectFrom("builds")
      .select("id")
      .where("id", "not like", "build-of-%")
      .execute();
    assert.deepEqual(left.map(({ id }) => id).toSorted(), numbers.map(nameOf).toSorted());
  });
});

test("what cannot be forgotten keeps nothing else from being forgotten, and is told", async () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), "vocalhost-prune-"));
  await using store = await openSqliteStore({ file: join(folder.path, "vocalhost.db"), reserveBytes: 0 });
  await fill(store);
  await sql`drop table samples`.execute(store.db);
  await assert.rejects(pruneAll(store, { dataFolder: folder.path, nowMs: NOW_MS }), /no such table: samples/);
  const sessions = await store.db.selectFrom("sessions").select("id").orderBy("id").execute();
  assert.deepEqual(
    sessions.map(({ id }) => id),
    ["ended-399", "open-500"],
  );
  const builds = await store.db.selectFrom("builds").select("id").orderBy("id").execute();
  assert.deepEqual(
    builds.map(({ id }) => id),
    ["build-of-0", "build-of-24"],
  );
});

test("a SQLite file gives back what its rows no longer need", async () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), "vocalhost-compact-"));
  await using store = await openSqliteStore({ file: join(folder.path, "a.db"), reserveBytes: 64 * 1024 });
  const freePages = async (): Promise<number> => {
    const { rows } = await sql<{
      count: number;
    }>`select freelist_count as count from pragma_freelist_count`.execute(store.db);
    return rows[0]?.count ?? -1;
  };
  const values = Array.from({ length: 200 }, (_, index) => ({ name: `n${index}`, value: "x".repeat(4_000) }));
  await store.db.insertInto("settings").values(values).execute();
  await store.db.deleteFrom("settings").execute();
  assert.ok((await freePages()) > 100);
  await store.compact();
  assert.equal(await freePages(), 0);
});

/** Returns the images to be kept. */
async function pruneAll(
  store: Store,
  at: { dataFolder: string; nowMs: number; removesFiles?: boolean },
): Promise<string[]> {
  let kept: string[] = [];
  await prune(store, {
    identity: { id: "own", before: undefined },
    removesFiles: true,
    ...at,
    retention: defaultRetention,
    idempotencyMs: DAY_MS,
    log: silentLog,
    keepImages: async (needed) => {
      kept = [...needed].sort();
      return 0;
    },
  });
  return kept;
}

function oldFolder(path: string, atMs: number): void {
  mkdirSync(path, { recursive: true });
  utimesSync(path, atMs / 1000, atMs / 1000);
}

async function fill({ db }: Store): Promise<void> {
  const agent: AgentRow = {
    ...{ id: "a", organizationId: "o", name: "parrot", region: "us-west", state: "live" },
    ...{ minAgents: 0, maxAgents: 1, desiredDeploymentId: "24", reconciledDeploymentId: "0", version: 1 },
    ...{ createdAt: 0, updatedAt: 0, deletedAt: null },
  };
  await db.insertInto("agents").values(agent).execute();
  const session = (id: string, days: number, state: SessionState) => ({
    ...newSessionRow({
      request: { transport: "webrtc", apiKeyId: null },
      agent,
      sessionId: id,
      nowMs: daysAgo(days),
    }),
    state,
    endedAt: state === "ended" ? daysAgo(days) : null,
  });
  await db
    .insertInto("sessions")
    .values([
      session("ended-401", 401, "ended"),
      session("ended-399", 399, "ended"),
      session("open-500", 500, "active"),
    ])
    .execute();
  const usage = { period: "2025-10", organizationId: "o", agentId: "a", seconds: 60 };
  await db
    .insertInto("usage")
    .values({ ...usage, sessionId: "ended-401" })
    .execute();
  const instance = (id: string, days: number, state: "stopped" | "ready") => ({
    ...newInstanceRow({
      ...{ agent, deploymentId: "0", sessionId: null, mediaPort: null, epoch: 1, nowMs: daysAgo(days) },
      newId: () => id,
    }),
    state,
  });
  await db
    .insertInto("instances")
    .values([
      instance("stopped-31", 31, "stopped"),
      instance("stopped-29", 29, "stopped"),
      instance("live-31", 31, "ready"),
    ])
    .execute();
  const old = { organizationId: "o", actor: "system", action: "a", target: "t", details: "{}" };
  await db
    .insertInto("audit")
    .values([
      { ...old, id: "audit-401", at: daysAgo(401) },
      { ...old, id: "audit-399", at: daysAgo(399) },
    ])
    .execute();
  const key = (id: string, ended: { revokedAt?: number; expiresAt?: number }) => ({
    ...{
      id,
      organizationId: "o",
      sha256: id,
      kind: "private" as const,
      name: "",
      lastFour: "",
      agents: null,
    },
    ...{ publicValue: null, ratePerMinute: null, concurrency: null, createdBy: "system", createdAt: 0 },
    ...{ expiresAt: null, revokedAt: null, lastUsedAt: null, ...ended },
  });
  await db
    .insertInto("apiKeys")
    .values([
      key("usable", { expiresAt: NOW_MS + 1 }),
      key("revoked-399", { revokedAt: daysAgo(399), expiresAt: daysAgo(500) }),
      key("revoked-401", { revokedAt: daysAgo(401) }),
      key("expired-399", { expiresAt: daysAgo(399) }),
      key("expired-401", { expiresAt: daysAgo(401) }),
    ])
    .execute();
  await db
    .insertInto("outbox")
    .values([
      { id: "sent-31", payload: "{}", createdAt: 0, sentAt: daysAgo(31), heldAt: null },
      { id: "sent-29", payload: "{}", createdAt: 0, sentAt: daysAgo(29), heldAt: null },
      { id: "waiting-500", payload: "{}", createdAt: daysAgo(500), sentAt: null, heldAt: null },
    ])
    .execute();
  await db
    .insertInto("deployments")
    .values(Array.from({ length: 25 }, (_, at) => deployment(at)))
    .execute();
  await db.insertInto("builds").values(["build-of-0", "build-of-24", "build-of-none"].map(build)).execute();
}

/** Inserts agents deleted a day ago and a live one; the names of builds say which of them use it. */
async function fillDeleted({ db }: Store): Promise<void> {
  const agent = (id: string, state: AgentRow["state"]): AgentRow => ({
    ...{ id, organizationId: "o", name: id, region: "us-west", state, minAgents: 0, maxAgents: 1 },
    ...{ desiredDeploymentId: id, reconciledDeploymentId: id, version: 1, createdAt: 0, updatedAt: 0 },
    deletedAt: state === "live" ? null : daysAgo(1),
  });
  const billed = agent("billed", "deleted");
  const running = agent("running", "deleted");
  await db
    .insertInto("agents")
    .values([agent("living", "live"), billed, agent("unbilled", "deleted"), running])
    .execute();
  const of = (agentId: string, id: string, image: string): DeploymentRow => {
    const row = deployment(24);
    const pinned = { reference: `pinned:${id}`, baseVersion: null, filterVersion: null };
    const spec = JSON.stringify({ ...(JSON.parse(row.spec) as object), image, pinned });
    return { ...row, id, agentId, spec, phase: "Retired", updatedAt: daysAgo(1) };
  };
  await db
    .insertInto("deployments")
    .values([
      of("living", "living", "shared"),
      of("billed", "billed", "shared"),
      of("billed", "billed-2", "only-deleted"),
      of("unbilled", "unbilled", "asked-for-again"),
      of("running", "running", "still-runs"),
      of("forgotten-earlier", "orphan", "only-deleted"),
    ])
    .execute();
  const sized = (id: string, updatedAt: number): BuildRow => ({
    ...{ ...build(id), updatedAt, imageSizeBytes: 1024 ** 2 },
  });
  await db
    .insertInto("builds")
    .values([
      sized("only-deleted", daysAgo(2)),
      sized("shared", daysAgo(2)),
      sized("asked-for-again", NOW_MS - 1_000),
      sized("never-deployed", daysAgo(2)),
      sized("still-runs", daysAgo(2)),
    ])
    .execute();
  await db
    .insertInto("instances")
    .values({
      ...newInstanceRow({
        ...{ agent: running, deploymentId: "running", sessionId: null, mediaPort: null, epoch: 1, nowMs: 1 },
        newId: () => "instance",
      }),
      state: "draining",
    })
    .execute();
  const request = { transport: "webrtc", apiKeyId: null } as const;
  const session = newSessionRow({ request, agent: billed, sessionId: "of-billed", nowMs: daysAgo(2) });
  await db
    .insertInto("sessions")
    .values({ ...session, state: "ended", endedAt: daysAgo(2), deploymentId: "billed" })
    .execute();
  const usage = { period: "2026-11", organizationId: "o", agentId: "billed", seconds: 60 };
  await db
    .insertInto("usage")
    .values({ ...usage, sessionId: "of-billed" })
    .execute();
}

/** 0 is the oldest, and the one that runs. */
function deployment(at: number): DeploymentRow {
  const buildIds: Record<number, string> = { 0: "build-of-0", 24: "build-of-24" };
  const spec = {
    ...{ image: buildIds[at] ?? "some/image:1", buildId: null, nodeType: "arm", imagePullSecretSet: null },
    ...{ secretSet: null, secretVersion: null, agentProfile: "agent-1x", audioFilter: null },
    ...{ maxSessionDurationS: 7_200, websocketAuth: "token" },
    pinned: [0, 2, 24].includes(at)
      ? { reference: `pinned:${at}`, baseVersion: null, filterVersion: null }
      : null,
  };
  return {
    ...{ id: String(at), organizationId: "o", agentId: "a", phase: at === 0 ? "Active" : "Retired" },
    ...{ phaseStartedAt: 0, spec: JSON.stringify(spec), crashes: 0, lastCrashAt: null, lastExitCode: null },
    ...{ crashText: null, failureCode: null, failureText: null, progressText: null, version: 1 },
    ...{ createdAt: daysAgo(100 - at), updatedAt: daysAgo(100 - at) },
  };
}

function build(id: string): BuildRow {
  return {
    ...{ id, organizationId: "o", region: "us-west", status: "success", uploadId: `upload of ${id}` },
    ...{ contextHash: "c", contentHash: "c", dockerfilePath: "Dockerfile", imageUri: id, errorMessage: null },
    ...{ contextSizeBytes: 1, imageSizeBytes: 1, facts: "{}", startedAt: 0, completedAt: 0 },
    ...{ createdAt: daysAgo(50), updatedAt: daysAgo(50) },
  };
}
