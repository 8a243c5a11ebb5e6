import assert from "node:assert/strict";
import { test } from "node:test";
import type { OrganizationId } from "../identity/principal.ts";
import { eachStore } from "@vocalhost/store/testing/each-store";
import { sessionRow } from "@vocalhost/store/testing/store-contract";
import { pruneSamples, resourceMetrics, summarize, writeSample, writeSamples } from "./samples.ts";

const organizationId = "organization" as OrganizationId;
const START_MS = 1_790_000_000_000;

eachStore((open) => {
  test("percentiles and the series of a session", async () => {
    await using store = await open();
    await store.db
      .insertInto("sessions")
      .values(sessionRow({ id: "session" }))
      .execute();
    assert.equal(await resourceMetrics(store, organizationId, "session"), null);
    const samples = Array.from({ length: 100 }, (_, index) => sample(100 - index));
    await writeSamples(store.db, samples);
    await writeSample(store.db, { ...sample(1), cpuMillicores: 9_999 });
    await store.transaction((tx) => writeSamples(tx, []));

    const metrics = await resourceMetrics(store, organizationId, "session");
    assert.equal(metrics?.sampleCount, 100);
    const cpu = [metrics?.cpuMillicoresP50, metrics?.cpuMillicoresP90, metrics?.cpuMillicoresP95];
    assert.deepEqual([...cpu, metrics?.cpuMillicoresP99], [50, 90, 95, 99]);
    assert.equal(metrics?.memoryBytesP99, 99_000_000);
    assert.deepEqual(metrics?.timeseries[0], { t: START_MS / 1000 + 5, c: 1, m: 1_000_000 });
    assert.equal(metrics?.createdAt, new Date(START_MS + 5_000).toISOString());
    assert.equal(metrics?.eventTs, new Date(START_MS + 500_000).toISOString());
    assert.equal(await resourceMetrics(store, "organization-2" as OrganizationId, "session"), null);

    await pruneSamples(store, { nowMs: START_MS + 250_000, retentionMs: 0 });
    assert.equal((await resourceMetrics(store, organizationId, "session"))?.sampleCount, 51);
  });

  test("an odd figure of one instance costs no other its sample", async () => {
    await using store = await open();
    for (const odd of [NaN, Infinity, -Infinity, -1, -1.5, 0.5, 9e15, 1e300]) {
      await store.db.deleteFrom("samples").execute();
      await writeSamples(store.db, [
        sample(1),
        { ...sample(2), cpuMillicores: odd },
        { ...sample(3), memoryBytes: odd },
        { ...sample(4), at: odd },
        sample(5),
      ]);
      const rows = await store.db.selectFrom("samples").selectAll().orderBy("at").execute();
      for (const good of [sample(1), sample(5)])
        assert.deepEqual(
          rows.find(({ at }) => at === good.at),
          good,
          String(odd),
        );
      for (const { cpuMillicores, memoryBytes } of rows)
        assert.ok(cpuMillicores >= 0 && memoryBytes >= 0 && cpuMillicores + memoryBytes < 2e15, String(odd));
      assert.ok(summarize("session", rows), String(odd));
    }
  });
});

test("one sample is every percentile", () => {
  const metrics = summarize("session", [sample(7)]);
  assert.equal(metrics?.cpuMillicoresP50, 7);
  assert.equal(metrics?.cpuMillicoresP99, 7);
});

function sample(index: number) {
  const at = START_MS + index * 5_000;
  return { sessionId: "session", at, cpuMillicores: index + 0.25, memoryBytes: index * 1_000_000 };
}
