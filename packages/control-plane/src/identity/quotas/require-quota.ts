import { AppError } from "@vocalhost/protocol";
import type { Store, Tx } from "@vocalhost/store/store";
import type { Quotas, QuotasOf } from "./quotas.ts";
import { countAgents, countBuilds, countDiskMib, countInstances, countKeptInstances } from "./used-quotas.ts";

/** A transaction that is about to use part of an organisation's quota. */
export interface Taking {
  store: Store;
  tx: Tx;
  quotasOf: QuotasOf;
}

/**
 * Returns whether one more instance is allowed beside the places kept free. Locks the organisation's row, so that the
 * count stays valid.
 */
export async function mayHaveInstance(
  taking: Taking,
  organizationId: string,
  keptFree = 0,
): Promise<boolean> {
  const { instances } = await lockQuotas(taking, organizationId);
  const places = instances > 1 ? instances - keptFree : instances;
  return (await countInstances(taking.tx, organizationId)) < places;
}

export async function requireAgentQuota(taking: Taking, organizationId: string): Promise<void> {
  const { agents } = await lockQuotas(taking, organizationId);
  if ((await countAgents(taking.tx, organizationId)) < agents) return;
  throw exceeded(`This organisation may have ${agents} agents: delete one, or ask for more`);
}

/** Called after the change: kept instances must fit into the quota, or the pools would never converge. */
export async function requireKeptInstances(taking: Taking, organizationId: string): Promise<void> {
  const { instances } = await lockQuotas(taking, organizationId);
  const kept = await countKeptInstances(taking.tx, organizationId);
  if (kept <= instances) return;
  throw exceeded(
    `This organisation may have ${instances} instances, and its agents would keep ${kept} with this minAgents`,
  );
}

export async function requireBuildQuota(taking: Taking, organizationId: string): Promise<void> {
  const { builds } = await lockQuotas(taking, organizationId);
  if ((await countBuilds(taking.tx, organizationId)) < builds) return;
  throw new AppError("TOO_MANY_BUILDS", {
    message: `This organisation may have ${builds} builds waiting or running: wait until one has ended`,
  });
}

/** `moreBytes`: the size of the addition, at least one. */
export async function requireDiskQuota(taking: Taking, organizationId: string, moreBytes = 1): Promise<void> {
  await takeDiskQuota(taking, organizationId, { neededBytes: moreBytes, wantedBytes: moreBytes });
}

/** Returns the granted bytes: all that are wanted if possible, and never fewer than needed. */
export async function takeDiskQuota(
  taking: Taking,
  organizationId: string,
  { neededBytes, wantedBytes }: { neededBytes: number; wantedBytes: number },
): Promise<number> {
  const { diskMib } = await lockQuotas(taking, organizationId);
  const used = await countDiskMib(taking.tx, organizationId);
  const freeBytes = Math.floor((diskMib - used) * 1024 ** 2);
  if (freeBytes >= neededBytes) return Math.min(freeBytes, wantedBytes);
  throw exceeded(
    `This organisation's uploads and builds may take ${diskMib} MiB and take ${Math.ceil(used)}: ` +
      "delete agents (within two hours their builds are gone), wait until old builds are cleared away, or ask for more",
  );
}

// If both rows are locked, the agent's comes first, so that transactions cannot deadlock.
async function lockQuotas({ store, tx, quotasOf }: Taking, organizationId: string): Promise<Quotas> {
  const { name } = await store
    .forUpdate(tx.selectFrom("organizations").selectAll().where("id", "=", organizationId))
    .executeTakeFirstOrThrow();
  return quotasOf(name);
}

function exceeded(message: string): AppError {
  return new AppError("QUOTA_EXCEEDED", { message });
}
