// Statements that lock, sum or conflict differently on Postgres, each run once against a real server.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { createApiKeys } from "../api-keys.ts";
import { createKeyCache } from "../key-cache.ts";
import { parseKey } from "../key-format.ts";
import { createTestClock } from "@vocalhost/base/testing/test-clock";
import { createFailpoint } from "@vocalhost/base/failpoints";
import { closePeriods } from "../../usage/ledger/close-periods.ts";
import { writeUsage } from "../../usage/ledger/close-usage.ts";
import { exportUsage } from "../../usage/ledger/export.ts";
import { readUsageDays } from "../../usage/ledger/read-usage-days.ts";
import { readUsage } from "../../usage/ledger/read-usage.ts";
import { usageCsv } from "../../usage/ledger/usage-csv.ts";
import { silentLog } from "@vocalhost/base/log";
import type { MasterKeys } from "../../secrets/master-keys.ts";
import { parseSecretPut } from "../../secrets/secret-put.ts";
import { createSecretSets } from "../../secrets/secret-sets.ts";
import { environmentOf } from "../../secrets/secret-values.ts";
import { newSessionRow } from "../../sessions/session-row.ts";
import { openPostgresStore } from "@vocalhost/store/postgres";
import { postgresIsMissing, startTestPostgres } from "@vocalhost/store/testing/test-postgres";
import { addMember, removeMember } from "../members.ts";
import { createOrganization } from "./organizations.ts";
import { changeProperties } from "./properties.ts";

const change = { actor: "system", nowMs: 1 };
const failpoint = createFailpoint(undefined);

test("keys, secrets, members and usage on Postgres", { skip: postgresIsMissing() }, async (t) => {
  await using server = await startTestPostgres();
  await using store = await openPostgresStore({ url: server.url, log: silentLog });
  const clock = createTestClock(Date.parse("2026-02-01T06:00:00Z"));
  const acme = await store.transaction((tx) => createOrganization(tx, { name: "acme" }, change));

  await t.test("of twelve keys made at once, five exist", async () => {
    await using cache = createKeyCache({ store, clock });
    const keys = createApiKeys({ store, clock, cache, failpoint });
    const results = await Promise.allSettled(
      Array.from({ length: 12 }, () => keys.create(acme, { kind: "private", name: "" }, "system")),
    );
    const made = results.filter((result) => result.status === "fulfilled");
    assert.equal(made.length, 5);
    const sha256 = parseKey(made[0]?.value.value ?? "")?.sha256 ?? "";
    assert.equal((await cache.find(sha256))?.organizationId, acme);
    await keys.revoke(acme, made[0]?.value.id ?? "", "system");
    assert.notEqual((await cache.find(sha256))?.revokedAt, null);
  });

  await t.test("of two changes of a secret set at once, one is told to retry", async () => {
    const masterKeys: MasterKeys = [{ id: "k", key: randomBytes(32) }];
    const regions = ["us-west"];
    await using sets = createSecretSets({ store, clock, masterKeys, regions, failpoint, log: silentLog });
    const put = (secretKey: string) =>
      sets.put(acme, "bot", { put: parseSecretPut({ secretKey, secretValue: secretKey }), actor: "system" });
    for (const keys of [
      ["A", "B"],
      ["C", "D"],
    ]) {
      const results = await Promise.allSettled(keys.map(put));
      const refused = results.filter((result) => result.status === "rejected");
      assert.ok(refused.every((result) => (result.reason as { code: string }).code === "CONFLICT"));
      assert.ok(refused.length < 2);
    }
    const [set] = await store.db.selectFrom("secretSets").selectAll().execute();
    const version = set?.currentVersion ?? 0;
    const environment = await environmentOf({ db: store.db, masterKeys }, acme, { setName: "bot", version });
    assert.equal(Object.keys(environment).length, version);
  });

  await t.test("two owners cannot remove each other", async () => {
    await store.transaction(async (tx) => {
      for (const userId of ["olga", "otto"]) await addMember(tx, acme, { userId, role: "owner" }, change);
    });
    const results = await Promise.allSettled(
      ["olga", "otto"].map((userId) => removeMember(store, acme, userId, change)),
    );
    assert.deepEqual(results.map((result) => result.status).sort(), ["fulfilled", "rejected"]);
    await changeProperties(
      store,
      acme,
      { defaultRegion: "us-east" },
      { ...change, regions: ["us-west", "us-east"] },
    );
  });

  await t.test("usage is summed, closed, corrected and exported", async () => {
    const session = {
      id: "s1",
      organizationId: acme,
      agentId: "a1",
      filter: "pro" as const,
      filterState: null,
      boundAt: Date.parse("2026-01-31T23:59:30.500Z"),
      startMs: 0,
      elapsedMs: 61_700,
      lastProofOfLifeAt: null,
      observed: { atLeastMs: null, atMostMs: null },
      stopRequestedAt: null,
      maxDurationMs: 7_200_000,
    };
    const close = (id: string) =>
      store.transaction((tx) => writeUsage(tx, { ...session, id }, { nowMs: clock.now }));
    await Promise.all([close("s1"), close("s1"), close("s2")]);
    assert.deepEqual((await closePeriods(store, { nowMs: clock.now, failpoint })).length, 1);
    await close("s3");
    const report = await readUsage(store, acme, "2026-01");
    assert.deepEqual(
      [report.seconds, report.sessions, report.closed, report.corrections.length],
      [58, 2, true, 1],
    );
    assert.equal((await readUsage(store, acme, "2026-02")).seconds, 96);
    assert.equal((await text(usageCsv(store, acme, "2026-01"))).split("\r\n").length, 5);
    await store.db
      .insertInto("sessions")
      .values({
        ...newSessionRow({
          request: { transport: "webrtc", apiKeyId: null },
          agent: { id: "a1", organizationId: acme, region: "us-west" },
          sessionId: "s1",
          nowMs: session.boundAt,
        }),
        state: "ended",
        boundAt: session.boundAt,
        startMs: 0,
        seconds: 61,
        filter: "pro",
      })
      .execute();
    const february = await readUsageDays(store, acme, { period: "2026-02", nowMs: clock.now });
    assert.deepEqual(february.days[0], {
      day: "2026-02-01",
      sessions: 0,
      activeSeconds: 32,
      filterSeconds: 32,
    });
    const round = await exportUsage({ store, clock, failpoint, url: "http://127.0.0.1:1/" });
    assert.deepEqual(round, { sent: 0, held: 0, failed: 1, problem: "bad port" });
  });
});
