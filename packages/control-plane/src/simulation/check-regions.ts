import type { Store } from "@vocalhost/store/store";
import type { Host } from "./host.ts";

/** While a region's driver did not answer. */
export interface Outage {
  region: string;
  from: number;
  until: number;
}

/** Every session was where it may be, and where it says. */
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
