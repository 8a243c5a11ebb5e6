import { AppError } from "@vocalhost/protocol";
import assert from "node:assert/strict";
import { test } from "node:test";
import type { KeyPrincipal, OrganizationId } from "../identity/principal.ts";
import { eachStore } from "@vocalhost/store/testing/each-store";
import { agentRow, sessionRow } from "@vocalhost/store/testing/store-contract";
import { callerOf, expirePending, requirePendingPlace } from "./pending-sessions.ts";

const limits = { perKey: 2, perAgent: 3 };
const timing = { socketTokenMs: 300_000, reconcileMs: 1_000 };

eachStore((open) => {
  test("only so many sessions of a key and of an agent wait at once", async () => {
    await using store = await open();
    await store.db
      .insertInto("agents")
      .values([agentRow("a", { id: "a" }), agentRow("b", { id: "b" }), agentRow("c", { id: "c" })])
      .execute();
    let count = 0;
    const pend = (agent: string, apiKeyId: string | null): Promise<string> =>
      store
        .transaction(async (tx) => {
          const place = { agent: { id: agent, name: agent }, apiKeyId, caller: null };
          await requirePendingPlace({ store, tx }, { ...place, limits, timing, nowMs: 1 });
          const row = sessionRow({ id: String(count++), agentId: agent, apiKeyId, body: "{}" });
          await tx.insertInto("sessions").values(row).execute();
          return "waits";
        })
        .catch((error: unknown) => (error instanceof AppError ? error.code : Promise.reject(error)));
    assert.deepEqual(await Promise.all([pend("a", "k"), pend("a", "k")]), ["waits", "waits"]);
    assert.equal(await pend("b", "k"), "TOO_MANY_PENDING", "the key's, whichever the agent");
    assert.deepEqual([await pend("a", "other"), await pend("a", null)], ["waits", "TOO_MANY_PENDING"]);
    const rush = await Promise.all(Array.from({ length: 8 }, () => pend("b", null)));
    assert.equal(rush.filter((outcome) => outcome === "waits").length, limits.perAgent);
  });

  test("a caller has as many as it leaves free to others, and is told when the next place is free", async () => {
    await using store = await open();
    await store.db
      .insertInto("agents")
      .values(agentRow("a", { id: "a" }))
      .execute();
    let nowMs = 0;
    const pend = async (caller: string | null): Promise<string> => {
      const place = { agent: { id: "a", name: "a" }, apiKeyId: "k", caller };
      const check = { ...place, limits: { perKey: 8, perAgent: 9 }, timing, nowMs };
      try {
        await store.transaction((tx) => requirePendingPlace({ store, tx }, check));
      } catch (error) {
        return error instanceof AppError ? `${error.code} ${error.retryAfterMs}` : String(error);
      }
      nowMs += 1_000;
      const row = sessionRow({ id: String(nowMs), agentId: "a", apiKeyId: "k", caller, createdAt: nowMs });
      await store.db.insertInto("sessions").values(row).execute();
      return "waits";
    };
    const crowd = async (caller: string | null, count: number): Promise<number> => {
      let waiting = 0;
      for (let each = 0; each < count; each++) if ((await pend(caller)) === "waits") waiting += 1;
      return waiting;
    };
    assert.equal(await crowd("192.0.2.1", 8), 4);
    // Its oldest began at 1 s, and its place is free once the first look at the pools after the token's end is over.
    assert.equal(await pend("192.0.2.1"), "TOO_MANY_PENDING 298000");
    assert.deepEqual([await crowd("192.0.2.2", 8), await crowd("192.0.2.3", 8)], [2, 1]);
    assert.equal(await crowd(null, 8), 1, "the key's last place is for who has a credential of his own too");
    assert.equal(await pend("192.0.2.4"), "TOO_MANY_PENDING 294000");
  });

  test("they expire together, and their bodies are forgotten", async () => {
    await using store = await open();
    const rows = [1, 2, 3].map((at) =>
      sessionRow({ id: `a${at}`, agentId: "a", createdAt: at, body: "{}", caller: "::1", version: at }),
    );
    const others = [
      sessionRow({ id: "other", agentId: "b", createdAt: 1, body: "{}" }),
      sessionRow({ id: "active", agentId: "a", createdAt: 1, state: "active" }),
    ];
    await store.db
      .insertInto("sessions")
      .values([...rows, ...others])
      .execute();
    const expire = { createdBefore: 3, nowMs: 9, reason: "never-connected" };
    await store.transaction((tx) => expirePending(tx, { agentId: "a", ...expire }));
    const after = await store.db
      .selectFrom("sessions")
      .select(["id", "state", "version", "endedAt", "body", "caller"])
      .orderBy("id")
      .execute();
    assert.deepEqual(
      after.map((row) => Object.values(row)),
      [
        ["a1", "expired", 2, 9, null, null],
        ["a2", "expired", 3, 9, null, null],
        ["a3", "pending", 3, null, "{}", "::1"],
        ["active", "active", 1, null, null, null],
        ["other", "pending", 1, null, "{}", null],
      ],
    );
    await store.transaction((tx) => expirePending(tx, { nowMs: 10, reason: "stopped" }));
    const left = await store.db.selectFrom("sessions").where("state", "=", "pending").select("id").execute();
    assert.deepEqual(left, []);
  });
});

test("callers with a public key are counted by network, others are not", () => {
  const key: KeyPrincipal = {
    kind: "key",
    keyKind: "public",
    keyId: "k",
    organizationId: "o" as OrganizationId,
    agents: null,
    ratePerMinute: null,
    concurrency: null,
  };
  const networks = {
    "192.0.2.1": "192.0.2.1",
    "2001:db8:1:2:3:4:5:6": "2001:db8:1:2",
    "2001:0db8:1:2::9": "2001:db8:1:2",
    "2001:db8::1": "2001:db8:0:0",
    "::1": "0:0:0:0",
  };
  for (const [address, network] of Object.entries(networks)) assert.equal(callerOf(key, address), network);
  assert.equal(callerOf({ ...key, keyKind: "private" }, "192.0.2.1"), null);
});
