// Agents with instances that wait, and a controller's side that starts sessions on them. For tests.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import type { OrganizationId } from "../../identity/principal.ts";
import type { DeploymentSpec } from "../../agents/deployments/deployment-spec.ts";
import { newDeployment } from "../../agents/deployments/new-deployment.ts";
import type { Driver } from "@vocalhost/drivers/driver";
import type { InstanceRecords } from "@vocalhost/drivers/instance-records";
import type { InstanceNetwork } from "../../pools/instances/instance-network.ts";
import { silentLog } from "@vocalhost/base/log";
import { createOrganization } from "../../identity/organizations/organizations.ts";
import { createMediaPorts } from "../../pools/media-ports.ts";
import { createWakeups } from "../../pools/wakeups.ts";
import { createQuotas, defaultQuotas } from "../../identity/quotas/quotas.ts";
import type { AgentRow } from "@vocalhost/store/schema";
import type { Store } from "@vocalhost/store/store";
import { systemClock } from "@vocalhost/base/system-clock";
import { agentRow, instanceRow } from "@vocalhost/store/testing/store-contract";
import { defaultTiming } from "@vocalhost/base/timing";
import type { World } from "../world.ts";
import { defaultPendingLimits } from "../session-settings.ts";
import { createLastSeen } from "../last-seen.ts";
import type { Starter } from "../start-session.ts";

/** Fills an empty store with an organisation and a controller that leads. */
export async function prepareOrganization(store: Store): Promise<OrganizationId> {
  await store.db.insertInto("leader").values({ id: 1, holder: "test", epoch: 1, until: 1 }).execute();
  return store.transaction((tx) => createOrganization(tx, { name: "acme" }, { actor: "system", nowMs: 1 }));
}

/** An agent with an active deployment, and with as many instances as it may have: all of them warm. */
export async function addWarmAgent(
  store: Store,
  organizationId: OrganizationId,
  change: Pick<AgentRow, "id" | "name" | "maxAgents"> & Partial<AgentRow>,
): Promise<void> {
  const { id: agentId, maxAgents } = change;
  const deploymentId = `deployment-${agentId}`;
  await store.db
    .insertInto("agents")
    .values({ ...agentRow(change.name, change), organizationId })
    .execute();
  await store.db
    .insertInto("deployments")
    .values(newDeployment({ id: deploymentId, organizationId, agentId, phase: "Active", spec, nowMs: 1 }))
    .execute();
  await store.db
    .insertInto("instances")
    .values(
      Array.from({ length: maxAgents }, (_, index) => ({
        ...instanceRow(index),
        ...{ id: `${agentId}-${index}`, organizationId, agentId, deploymentId },
        ...{ state: "ready" as const, sessionId: null, address: `127.0.0.1:${index + 1}` },
      })),
    )
    .execute();
}

/** Every instance takes what it is asked, once; `taken` has the session of each. */
export function starterOn(
  store: Store,
  taken: Map<string, string>,
  changes: Partial<Pick<World, "driver" | "nearestTo">> = {},
): Starter {
  const network: Partial<InstanceNetwork> = {
    async start({ id }, { sessionId }) {
      assert.ok(!taken.has(id), `instance ${id} was asked twice`);
      taken.set(id, sessionId);
    },
  };
  const world: World = {
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
    lastSeen: createLastSeen(),
    failpoint: () => undefined,
    log: silentLog,
    hasVoiceEngine: false,
    epoch: 1,
    ...changes,
  };
  return { world, wakeups: createWakeups(systemClock), nudge: () => undefined, isEnding: () => false };
}

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
