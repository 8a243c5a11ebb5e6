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
