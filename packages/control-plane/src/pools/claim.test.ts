import assert from "node:assert/strict";
import { test } from "node:test";
import type { InstanceRow } from "../store/schema.ts";
import { openMemoryStore } from "../store/sqlite.ts";
import { agentRow, instanceRow } from "../testing/store-contract.ts";
import { claimInstance } from "./claim.ts";

type Kind = "warm" | "cold" | "full";

const busy = { state: "busy", sessionId: "earlier" } as const;
const reserved = { state: "starting", sessionId: "earlier" } as const;
const ready = { state: "ready", sessionId: null } as const;
const starting = { state: "starting", sessionId: null } as const;
const draining = { state: "draining", sessionId: "earlier" } as const;

const cases: { maxAgents: number; live: Partial<InstanceRow>[]; expect: Kind }[] = [
  { maxAgents: 2, live: [busy, ready], expect: "warm" },
  { maxAgents: 2, live: [busy, starting], expect: "cold" },
  { maxAgents: 2, live: [busy], expect: "cold" },
  { maxAgents: 2, live: [busy, busy], expect: "full" },
  // The maximum was lowered: what runs goes on, and nothing new is begun beyond it.
  { maxAgents: 2, live: [busy, busy, ready], expect: "full" },
  { maxAgents: 2, live: [busy, reserved, starting], expect: "full" },
  { maxAgents: 2, live: [busy, draining, ready], expect: "full" },
  { maxAgents: 2, live: [busy, ready, ready, ready], expect: "warm" },
];

for (const { maxAgents, live, expect } of cases)
  test(`at most ${maxAgents}, of ${live.map(({ state }) => state).join(", ")}: ${expect}`, async () => {
    await using store = await openMemoryStore();
    const stale = agentRow("a", { id: "agent", maxAgents: 9 });
    await store.db
      .insertInto("agents")
      .values({ ...stale, maxAgents })
      .execute();
    await store.db
      .insertInto("instances")
      .values(
        live.map((row, index) => ({ ...instanceRow(index), agentId: "agent", deploymentId: "d", ...row })),
      )
      .execute();
    // Read before the maximum was lowered; what counts is what is written.
    const options = { store, agent: stale, deploymentId: "d", sessionId: "new", newId: () => "new" };
    const claim = await store.transaction((tx) => claimInstance(tx, { ...options, epoch: 1, nowMs: 1 }));
    assert.equal(claim?.kind ?? "full", expect);
  });
