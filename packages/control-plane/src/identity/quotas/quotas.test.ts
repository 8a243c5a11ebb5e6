// Runs on both stores, which sum and lock differently.
import { isAppError } from "@vocalhost/protocol";
import assert from "node:assert/strict";
import { test } from "node:test";
import { createOrganization } from "../organizations/organizations.ts";
import { eachStore } from "@vocalhost/store/testing/each-store";
import { agentRow, instanceRow } from "@vocalhost/store/testing/store-contract";
import { createQuotas, defaultQuotas } from "./quotas.ts";
import { readQuotas } from "./read-quotas.ts";
import {
  mayHaveInstance,
  requireBuildQuota,
  requireDiskQuota,
  requireKeptInstances,
} from "./require-quota.ts";

const quotasOf = createQuotas({ ...defaultQuotas, instances: 2, diskMib: 3 });

eachStore((open) => {
  test("what an organisation has is counted, and what others have is not", async () => {
    await using store = await open();
    const [id, other] = await store.transaction(async (tx) => [
      await createOrganization(tx, { name: "acme" }, { actor: "system", nowMs: 1 }),
      await createOrganization(tx, { name: "other" }, { actor: "system", nowMs: 2 }),
    ]);
    assert.deepEqual(await readQuotas({ db: store.db, quotasOf }, { id, name: "acme" }), {
      agents: { used: 0, limit: 200 },
      instances: { used: 0, limit: 2 },
      builds: { used: 0, limit: 20 },
      diskMib: { used: 0, limit: 3 },
    });
    await store.db
      .insertInto("agents")
      .values([
        { ...agentRow("a", { id: "agent", minAgents: 2 }), organizationId: id },
        { ...agentRow("b", { id: "foreign", minAgents: 9 }), organizationId: other },
      ])
      .execute();
    const instance = { organizationId: id, agentId: "agent" };
    await store.db
      .insertInto("instances")
      .values([
        { ...instanceRow(1), ...instance, state: "busy" },
        { ...instanceRow(2), ...instance, state: "stopped" },
        { ...instanceRow(3), organizationId: other, agentId: "foreign", state: "busy" },
      ])
      .execute();
    await store.db
      .insertInto("uploads")
      .values({
        id: "upload",
        organizationId: id,
        region: "here",
        policySha256: "",
        expiresAt: 1,
        receivedAt: 1,
        sizeBytes: 2 * 1024 ** 2,
        createdAt: 1,
      })
      .execute();
    assert.deepEqual((await readQuotas({ db: store.db, quotasOf }, { id, name: "acme" })).diskMib, {
      used: 2,
      limit: 3,
    });
    await store.transaction(async (tx) => {
      const taking = { store, tx, quotasOf };
      assert.equal(await mayHaveInstance(taking, id), true);
      assert.equal(await mayHaveInstance(taking, id, 1), false, "one place is kept for somebody else");
      await requireKeptInstances(taking, id);
      await requireBuildQuota(taking, id);
      await requireDiskQuota(taking, id, 1024 ** 2);
    });
    const tooMuch = store.transaction((tx) => requireDiskQuota({ store, tx, quotasOf }, id, 1024 ** 2 + 1));
    await assert.rejects(tooMuch, (error) => isAppError(error) && error.code === "QUOTA_EXCEEDED");
  });
});
