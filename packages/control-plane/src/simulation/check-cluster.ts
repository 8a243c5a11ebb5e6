import { BOUND_SESSION_STATES, LIVE_INSTANCE_STATES } from "../pools/instance-state.ts";
import type { QuotasOf } from "../identity/quotas/quotas.ts";
import type { Store } from "@vocalhost/store/store";
import type { ClusterAgent } from "./cluster-agents.ts";
import type { Host } from "./host.ts";

/** Checks the limits of each agent and each organisation, at any moment. */
export async function checkClusterMeanwhile(options: {
  host: Host;
  store: Store;
  agents: readonly ClusterAgent[];
  organizations: readonly { id: string; name: string }[];
  quotasOf: QuotasOf;
}): Promise<void> {
  const { host, store, agents, organizations, quotasOf } = options;
  const running = new Set(host.running());
  const rows = await store.db.selectFrom("instances").select(["id", "agentId", "organizationId"]).execute();
  const objects = rows.filter(({ id }) => running.has(id));
  const byAgent = Map.groupBy(objects, ({ agentId }) => agentId);
  const byOrganization = Map.groupBy(objects, ({ organizationId }) => organizationId);
  const bound = await store.db
    .selectFrom("sessions")
    .innerJoin("instances", "instances.sessionId", "sessions.id")
    .select(["sessions.agentId", (is) => is.fn.countAll<number>().as("count")])
    .where("sessions.state", "in", BOUND_SESSION_STATES)
    .where("instances.state", "in", LIVE_INSTANCE_STATES)
    .groupBy("sessions.agentId")
    .execute();
  const boundOf = new Map(bound.map(({ agentId, count }) => [agentId, count]));
  for (const { id, name, maxAgents } of agents) {
    const count = byAgent.get(id)?.length ?? 0;
    if (count > maxAgents) host.faults.push(`I5: ${count} instances of ${name} run at once`);
    if ((boundOf.get(id) ?? 0) > maxAgents) host.faults.push(`I5: ${name} has too many sessions`);
  }
  for (const { id, name } of organizations) {
    const count = byOrganization.get(id)?.length ?? 0;
    if (count > quotasOf(name).instances) host.faults.push(`I5: ${count} instances of ${name} run at once`);
  }
}

/** Checks that every pool is whole again when everything has settled. */
export async function checkClusterAtTheEnd(options: {
  host: Host;
  store: Store;
  agents: readonly ClusterAgent[];
}): Promise<void> {
  const { host, store, agents } = options;
  const ready = await store.db
    .selectFrom("instances")
    .select(["id", "agentId"])
    .where("state", "=", "ready")
    .execute();
  const running = new Set(host.running());
  const byAgent = Map.groupBy(
    ready.filter(({ id }) => running.has(id)),
    ({ agentId }) => agentId,
  );
  for (const { id, name, minAgents } of agents) {
    const count = byAgent.get(id)?.length ?? 0;
    if (count < minAgents) host.faults.push(`${name} keeps ${count} ready of ${minAgents}`);
  }
}

/** The time in which a region's driver did not answer. */
export interface Outage {
  region: string;
  from: number;
  until: number;
}

/** Checks that every session was in a region where it may be, and in the one it names. */
export async function checkRegions(options: {
  host: Host;
  store: Store;
  outages: readonly Outage[];
}): Promise<void> {
  const { host, store, outages } = options;
  const rows = await store.db
    .selectFrom("sessions")
    .innerJoin("agents", "agents.id", "sessions.agentId")
    .leftJoin("instances", "instances.id", "sessions.instanceId")
    .selectAll("sessions")
    .select(["agents.region as agentRegion", "instances.agentId as instanceAgentId"])
    .where("sessions.boundAt", "is not", null)
    .execute();
  for (const row of rows) {
    const { id, region, regionAsked, regionReason, boundAt } = row;
    if (region !== row.agentRegion || (row.instanceAgentId ?? row.agentId) !== row.agentId)
      host.faults.push(`I10: session ${id} says ${region} and is in ${row.agentRegion}`);
    if (row.staysInRegion === 1 && region !== regionAsked)
      host.faults.push(`I10: session ${id} was to stay in ${regionAsked} and is in ${region}`);
    const isElsewhere = region !== regionAsked;
    if (isElsewhere !== (regionReason?.startsWith(`nearest;${regionAsked}=`) ?? false))
      host.faults.push(`I10: session ${id}, asked for in ${regionAsked}, is in ${region}: ${regionReason}`);
    const isDown = outages.some(
      (outage) => outage.region === region && (boundAt ?? 0) > outage.from && (boundAt ?? 0) < outage.until,
    );
    if (isDown && row.coldStart === 1)
      host.faults.push(`I10: an instance was to be made for session ${id} in ${region}, which was down`);
  }
}
