import assert from "node:assert/strict";
import { test } from "node:test";
import type { OrganizationId } from "../../identity/principal.ts";
import { newSessionRow } from "../../sessions/session-row.ts";
import type { SessionRow } from "@vocalhost/store/schema";
import { openMemoryStore } from "@vocalhost/store/sqlite";
import { projectUsage, readUsageDays } from "./read-usage-days.ts";

const ours = "organization" as OrganizationId;

test("seconds lie on the day they were spent, also across midnight and the end of a month", async () => {
  await using store = await openMemoryStore();
  const add = async (at: string, row: Partial<SessionRow>) => {
    const boundAt = Date.parse(at);
    const agent = {
      id: row.agentId ?? "parrot",
      organizationId: row.organizationId ?? ours,
      region: "us-west",
    };
    const made = newSessionRow({
      request: { transport: "webrtc", apiKeyId: null },
      agent,
      sessionId: crypto.randomUUID(),
      nowMs: boundAt,
    });
    const session = { ...made, boundAt, startMs: 1, state: "ended" as const, ...row };
    await store.db.insertInto("sessions").values(session).execute();
  };
  await add("2026-10-31T23:59:30.500Z", { seconds: 61, filter: "tel" });
  await add("2026-11-02T10:00:00.000Z", { seconds: 120, filter: null });
  await add("2026-11-02T23:59:00.000Z", { seconds: 90, filter: "pro", agentId: "owl" });
  await add("2026-11-30T23:00:00.000Z", { seconds: 7200, filter: null });
  await add("2026-11-05T10:00:00.000Z", { seconds: 0, startMs: null });
  await add("2026-11-05T10:00:00.000Z", { seconds: null, state: "active" });
  await add("2026-11-05T10:00:00.000Z", { seconds: 99, organizationId: "other" });

  const nowMs = Date.parse("2026-11-16T00:00:00Z");
  const report = await readUsageDays(store, ours, { period: "2026-11", nowMs });
  assert.equal(report.days.length, 30);
  const shown = report.days.filter(({ activeSeconds }) => activeSeconds > 0);
  assert.deepEqual(shown, [
    { day: "2026-11-01", sessions: 0, activeSeconds: 32, filterSeconds: 32 },
    { day: "2026-11-02", sessions: 2, activeSeconds: 180, filterSeconds: 60 },
    { day: "2026-11-03", sessions: 0, activeSeconds: 30, filterSeconds: 30 },
    { day: "2026-11-30", sessions: 1, activeSeconds: 3600, filterSeconds: 0 },
  ]);
  assert.deepEqual(
    [report.sessions, report.activeSeconds, report.filterSeconds],
    [3, 32 + 180 + 30 + 3600, 122],
  );
  assert.deepEqual(
    report.agents.map(({ agent, activeSeconds, filterSeconds }) => [agent, activeSeconds, filterSeconds]),
    [
      ["parrot", 3752, 32],
      ["owl", 90, 90],
    ],
  );
  const october = await readUsageDays(store, ours, { period: "2026-10", nowMs });
  assert.equal(october.activeSeconds, 29);
  assert.equal(october.projection, null);
});

test("a month that is half over comes to twice as much", () => {
  const half = Date.parse("2026-11-16T00:00:00Z");
  assert.deepEqual(projectUsage(450_000, { period: "2026-11", nowMs: half }), {
    filterMinutes: 15_000,
    billableMinutes: 5_000,
    amountUsd: "7.5000",
    invoiceUsd: "7.50",
  });
  assert.equal(projectUsage(1, { period: "2026-12", nowMs: half }), null);
  assert.equal(projectUsage(0, { period: "2026-11", nowMs: half })?.invoiceUsd, "0.00");
});
