import assert from "node:assert/strict";
import { test } from "node:test";
import { writeAudit } from "../identity/audit.ts";
import { startApiHarness } from "./testing/api-harness.ts";

const DAY_MS = 86_400_000;

test("the audit trail is paged newest first, filtered, and an organisation's own", async () => {
  await using api = await startApiHarness();
  const base = { organizationId: api.acme.id, actor: "user:ada" };
  await api.store.db.deleteFrom("audit").execute();
  await api.store.transaction(async (tx) => {
    await writeAudit(tx, {
      ...base,
      at: DAY_MS,
      action: "agent-created",
      target: "agent:1",
      details: { name: "parrot_1" },
    });
    await writeAudit(tx, {
      ...base,
      at: 2 * DAY_MS,
      action: "agent-deployed",
      target: "agent:1",
      details: { name: "parrot_1" },
    });
    await writeAudit(tx, { ...base, at: 3 * DAY_MS, action: "key-revoked", target: "key:7", actor: "key:1" });
    const foreign = { ...base, organizationId: api.other.id };
    await writeAudit(tx, { ...foreign, at: DAY_MS, action: "key-revoked", target: "key:8" });
  });
  const found = async (query: Parameters<typeof api.client.audit>[0]) => {
    const { entries, total } = await api.client.audit(query);
    return [total, ...entries.map(({ action }) => action)];
  };
  assert.deepEqual(await found({}), [3, "key-revoked", "agent-deployed", "agent-created"]);
  assert.deepEqual(await found({ limit: 1, offset: 1 }), [3, "agent-deployed"]);
  assert.deepEqual(await found({ action: "agent-created" }), [1, "agent-created"]);
  assert.deepEqual(await found({ actor: "key:1" }), [1, "key-revoked"]);
  assert.deepEqual(await found({ text: "PARROT_" }), [2, "agent-deployed", "agent-created"]);
  assert.deepEqual(await found({ text: "parrot%" }), [0]);
  assert.deepEqual(await found({ text: "key:7" }), [1, "key-revoked"]);
  const day = DAY_MS / 1000;
  assert.deepEqual(await found({ startTime: 2 * day, endTime: 3 * day }), [1, "agent-deployed"]);
});
