import { AppError } from "@vocalhost/protocol";
import assert from "node:assert/strict";
import { test } from "node:test";
import { together } from "../store/round-trips.ts";
import { eachStore } from "../testing/each-store.ts";
import { agentRow, sessionRow } from "../testing/store-contract.ts";
import { checkPending, countPending, expirePending, lockPending } from "./pending-sessions.ts";

const limits = { perKey: 2, perAgent: 3 };

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
          const place = { agent: { id: agent, name: agent }, apiKeyId };
          await lockPending(tx, { store, ...place });
          const { pending } = await together(tx, { pending: countPending(tx, place) });
          checkPending(pending, { agent: place.agent, limits });
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

  test("they expire together, and their bodies are forgotten", async () => {
    await using store = await open();
    const rows = [1, 2, 3].map((at) =>
      sessionRow({ id: `a${at}`, agentId: "a", createdAt: at, body: "{}", version: at }),
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
      .select(["id", "state", "version", "endedAt", "body"])
      .orderBy("id")
      .execute();
    assert.deepEqual(
      after.map((row) => Object.values(row)),
      [
        ["a1", "expired", 2, 9, null],
        ["a2", "expired", 3, 9, null],
        ["a3", "pending", 3, null, "{}"],
        ["active", "active", 1, null, null],
        ["other", "pending", 1, null, "{}"],
      ],
    );
    await store.transaction((tx) => expirePending(tx, { nowMs: 10, reason: "stopped" }));
    const left = await store.db.selectFrom("sessions").where("state", "=", "pending").select("id").execute();
    assert.deepEqual(left, []);
  });
});
