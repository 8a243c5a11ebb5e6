// Far more starts at once than there is capacity, on both databases: the cap holds, and everybody is answered.
import { isAppError } from "@vocalhost/protocol";
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { size } from "../../../../testing/sizes.ts";
import type { OrganizationId } from "../auth/principal.ts";
import type { DeploymentSpec } from "../deployments/deployment-spec.ts";
import type { Driver } from "../drivers/driver.ts";
import type { InstanceRecords } from "../drivers/instance-records.ts";
import type { InstanceNetwork } from "../instances/instance-network.ts";
import { silentLog } from "../log.ts";
import { createOrganization } from "../organizations/organizations.ts";
import { createMediaPorts } from "../pools/media-ports.ts";
import { createWakeups } from "../pools/wakeups.ts";
import { createQuotas, defaultQuotas } from "../quotas/quotas.ts";
import type { Store } from "../store/store.ts";
import { systemClock } from "../system-clock.ts";
import { eachStore } from "../testing/each-store.ts";
import { agentRow, instanceRow } from "../testing/store-contract.ts";
import { defaultTiming } from "../timing.ts";
import { defaultPendingLimits } from "./pending-sessions.ts";
import { createSightings } from "./sightings.ts";
import { startSession, type Starter } from "./start-session.ts";

const STARTS = size(200, 10_000);
const CAP = 20;
const AT_ONCE = 50; // more would only queue for the same connections

eachStore((open) => {
  test(`${STARTS} starts against ${CAP} instances`, async (context) => {
    await using store = await open();
    const organizationId = await prepare(store);
    const taken = new Map<string, string>();
    const starter = starterOn(store, taken);
    const counts = { started: 0, refused: 0, "put off": 0 };
    for (let begun = 0; begun < STARTS; begun += AT_ONCE) {
      const crowd = Array.from({ length: Math.min(AT_ONCE, STARTS - begun) }, () =>
        start(starter, organizationId).then((how) => counts[how]++),
      );
      await Promise.all(crowd);
    }
    context.diagnostic(JSON.stringify(counts));
    assert.equal(new Set(taken.values()).size, taken.size, "no session has two instances");
    const active = await store.db.selectFrom("sessions").select("id").where("state", "=", "active").execute();
    assert.equal(active.length, counts.started, "who was refused left nothing behind, who was not is there");
    // A starved machine keeps somebody waiting too long for the database, who is told to come back.
    if (counts["put off"] === 0) assert.deepEqual(counts, { ...counts, started: CAP, refused: STARTS - CAP });
    else assert.ok(counts.started <= CAP, "never one more");
  });
});

type Answer = "started" | "refused" | "put off";

async function start(starter: Starter, organizationId: OrganizationId): Promise<Answer> {
  try {
    await startSession(starter, {
      organizationId,
      agentName: "crowd",
      transport: "webrtc",
      body: {},
      apiKeyId: null,
      concurrency: null,
      connect: { kind: "webrtc", iceServers: [] },
    });
    return "started";
  } catch (error) {
    if (isAppError(error) && error.code === "AGENT-AT-CAPACITY") return "refused";
    if (isAppError(error) && error.code === "SERVICE_UNAVAILABLE") return "put off";
    throw error;
  }
}

function starterOn(store: Store, taken: Map<string, string>): Starter {
  const network: Partial<InstanceNetwork> = {
    async start({ id }, { sessionId }) {
      assert.ok(!taken.has(id), `instance ${id} was asked twice`);
      taken.set(id, sessionId);
    },
  };
  const world: Starter["world"] = {
    store,
    driver: {} as Driver,
    records: {} as InstanceRecords,
    network: network as InstanceNetwork,
    clock: systemClock,
    newId: () => randomUUID(),
    timing: defaultTiming,
    pendingLimits: defaultPendingLimits,
    quotasOf: createQuotas(defaultQuotas),
    mediaPorts: createMediaPorts({ range: undefined, log: silentLog }),
    sightings: createSightings(),
    failpoint: () => undefined,
    log: silentLog,
    hasVoiceEngine: false,
    epoch: 1,
  };
  return { world, wakeups: createWakeups(systemClock), nudge: () => undefined, isEnding: () => false };
}

async function prepare(store: Store): Promise<OrganizationId> {
  const organizationId = await store.transaction((tx) =>
    createOrganization(tx, { name: "acme" }, { actor: "system", nowMs: 1 }),
  );
  const ids = { organizationId, agentId: "agent", deploymentId: "deployment" };
  const spec: DeploymentSpec = {
    image: "vocalhost/builds:test",
    buildId: null,
    nodeType: "arm",
    imagePullSecretSet: null,
    secretSet: null,
    secretVersion: null,
    pinned: null,
    agentProfile: "agent-1x",
    audioFilter: null,
    maxSessionDurationS: 60,
    websocketAuth: "token",
  };
  await store.db.insertInto("leader").values({ id: 1, holder: "test", epoch: 1, until: 1 }).execute();
  await store.db
    .insertInto("agents")
    .values({ ...agentRow("crowd", { id: ids.agentId, maxAgents: CAP }), organizationId })
    .execute();
  await store.db
    .insertInto("deployments")
    .values({
      ...{ id: ids.deploymentId, organizationId, agentId: ids.agentId, phase: "Active", phaseStartedAt: 1 },
      ...{ spec: JSON.stringify(spec), crashes: 0, lastCrashAt: null, lastExitCode: null, crashText: null },
      ...{ failureCode: null, failureText: null, version: 1, createdAt: 1, updatedAt: 1 },
    })
    .execute();
  await store.db
    .insertInto("instances")
    .values(
      Array.from({ length: CAP }, (_, index) => ({
        ...instanceRow(index),
        ...ids,
        state: "ready" as const,
        sessionId: null,
        address: `127.0.0.1:${index + 1}`,
      })),
    )
    .execute();
  return organizationId;
}
