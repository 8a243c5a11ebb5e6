import type { QuotaList } from "@vocalhost/protocol";
import type { Db } from "@vocalhost/store/store";
import type { QuotasOf } from "./quotas.ts";
import { countAgents, countBuilds, countDiskMib, countInstances } from "./used-quotas.ts";

/** Returns an organisation's usage beside each quota. */
export async function readQuotas(
  { db, quotasOf }: { db: Db; quotasOf: QuotasOf },
  { id, name }: { id: string; name: string },
): Promise<QuotaList> {
  const limits = quotasOf(name);
  return {
    agents: { used: await countAgents(db, id), limit: limits.agents },
    instances: { used: await countInstances(db, id), limit: limits.instances },
    builds: { used: await countBuilds(db, id), limit: limits.builds },
    diskMib: { used: Math.ceil(await countDiskMib(db, id)), limit: limits.diskMib },
  };
}
