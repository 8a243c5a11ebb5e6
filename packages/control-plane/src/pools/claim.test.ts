import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLog } from "@vocalhost/base/log";
import { createQuotas, defaultQuotas } from "../identity/quotas/quotas.ts";
import type { InstanceRow } from "@vocalhost/store/schema";
import { openMemoryStore } from "@vocalhost/store/sqlite";
import { agentRow, instanceRow } from "@vocalhost/store/testing/store-contract";
import { claimInstance, type Claim, type Full } from "./claim.ts";
import { createMediaPorts } from "./media-ports.ts";

type Kind = Claim["kind"] | Full;

const busy = { state: "busy", sessionId: "earlier" } as const;
const reserved = { state: "starting", sessionId: "earlier" } as const;
const ready = { state: "ready", sessionId: null } as const;
const starting = { state: "starting", sessionId: null } as const;
const draining = { state: "draining", sessionId: "earlier" } as const;

interface Case {
  maxAgents: number;
  quota?: number;
  /** How many media ports there are. */
  ports?: number;
  live: Partial<InstanceRow>[];
  expect: Kind;
}

const cases: Case[] = [
  { maxAgents: 2, live: [busy, ready], expect: "warm" },
  { maxAgents: 2, live: [busy, starting], expect: "cold" },
  { maxAgents: 2, live: [busy], expect: "cold" },
  { maxAgents: 2, live: [busy, busy], expect: "agent-full" },
  // The maximum was lowered: what runs goes on, and nothing new is begun beyond it.
  { maxAgents: 2, live: [busy, busy, ready], expect: "agent-full" },
  { maxAgents: 2, live: [busy, reserved, starting], expect: "agent-full" },
  { maxAgents: 2, live: [busy, draining, ready], expect: "agent-full" },
  { maxAgents: 2, live: [busy, ready, ready, ready], expect: "warm" },
  // The organisation's quota counts the instances of its other agents too, of which there is one.
  { maxAgents: 9, quota: 3, live: [busy], expect: "cold" },
  { maxAgents: 9, quota: 2, live: [busy], expect: "organization-full" },
  { maxAgents: 9, quota: 2, live: [ready], expect: "warm" },
  // Every instance has a media port of its own, if there are any.
  { maxAgents: 9, ports: 2, live: [{ ...busy, mediaPort: 40_000 }], expect: "cold" },
  { maxAgents: 9, ports: 1, live: [{ ...busy, mediaPort: 40_000 }], expect: "ports-used-up" },
  { maxAgents: 9, ports: 1, live: [{ ...ready, mediaPort: 40_000 }], expect: "warm" },
];

for (const { maxAgents, quota = 100, ports, live, expect } of cases)
  test(`at most ${maxAgents}, in the organisation ${quota}, ports ${ports ?? "any"}, of ${live.map(({ state }) => state).join(", ")}: ${expect}`, async () => {
    await using store = await openMemoryStore();
    const agent = agentRow("a", { id: "agent", maxAgents });
    const other = agentRow("b", { id: "other" });
    await store.db
      .insertInto("organizations")
      .values({ id: agent.organizationId, name: "org", verboseName: "", properties: "{}", createdAt: 1 })
      .execute();
    await store.db.insertInto("agents").values([agent, other]).execute();
    await store.db
      .insertInto("instances")
      .values({ ...instanceRow(live.length), agentId: other.id, ...busy })
      .execute();
    await store.db
      .insertInto("instances")
      .values(
        live.map((row, index) => ({ ...instanceRow(index), agentId: "agent", deploymentId: "d", ...row })),
      )
      .execute();
    const quotasOf = createQuotas({ ...defaultQuotas, instances: quota });
    const ids = { deploymentId: "d", sessionId: "new", newId: () => "new" };
    const range = ports === undefined ? undefined : { first: 40_000, last: 40_000 + ports - 1 };
    const mediaPorts = createMediaPorts({ range, log: silentLog });
    const options = { store, agentId: agent.id, ...ids, quotasOf, mediaPorts, epoch: 1, nowMs: 1 };
    const claim = await store.transaction((tx) => claimInstance(tx, options));
    assert.equal(typeof claim === "string" ? claim : claim.kind, expect);
  });
