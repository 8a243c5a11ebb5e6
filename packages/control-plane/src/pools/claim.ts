import type { QuotasOf } from "../identity/quotas/quotas.ts";
import { mayHaveInstance } from "../identity/quotas/require-quota.ts";
import type { AgentRow, InstanceRow } from "@vocalhost/store/schema";
import type { Store, Tx } from "@vocalhost/store/store";
import { LIVE_INSTANCE_STATES, moveInstance } from "./instance-state.ts";
import type { MediaPorts } from "./media-ports.ts";

export interface ClaimOptions {
  store: Store;
  agentId: string;
  deploymentId: string;
  sessionId: string;
  /** Takes an instance only if it is ready, since the region can make none. */
  onlyReady?: boolean;
  quotasOf: QuotasOf;
  mediaPorts: MediaPorts;
  newId(): string;
  epoch: number;
  nowMs: number;
}

/** The columns that a claim reads of an instance; an agent may have hundreds. */
export type PoolInstance = Pick<
  InstanceRow,
  "id" | "agentId" | "deploymentId" | "state" | "sessionId" | "address" | "version"
>;

const POOL_COLUMNS = [
  "id",
  "agentId",
  "deploymentId",
  "state",
  "sessionId",
  "address",
  "version",
] as const satisfies (keyof PoolInstance)[];

/** Says which limit leaves no place for one more instance. */
export type Full = "agent-full" | "organization-full" | "ports-used-up";

/** An instance that belongs to the session alone: `warm` if it is ready, `cold` if it is booting or yet to be made. */
export interface Claim {
  instance: PoolInstance;
  kind: "warm" | "cold";
}

/**
 * Binds an instance to a session, inside the transaction that makes the session, or says which limit is reached. It locks
 * the agent's row first, so that what it counts stays counted.
 */
export async function claimInstance(tx: Tx, options: ClaimOptions): Promise<Claim | Full | "none-ready"> {
  const { store, agentId, deploymentId, sessionId, nowMs } = options;
  const locked = tx.selectFrom("agents").selectAll().where("id", "=", agentId);
  const agent = await store.forUpdate(locked).executeTakeFirst();
  if (!agent) return "agent-full";
  const live = await readLiveInstances(tx, agentId);
  // The maximum may have been lowered below the number of instances: those beyond it take no more sessions.
  if (live.filter(isTaken).length >= agent.maxAgents) return "agent-full";
  const free = live.filter((row) => row.deploymentId === deploymentId && row.sessionId === null);
  const ready = free.find(({ state }) => state === "ready");
  if (ready) {
    const move = { to: "busy", cause: "claimed", nowMs, changes: { sessionId } } as const;
    if (!(await moveInstance(tx, ready, move))) throw new Error("An instance changed under its agent's lock");
    return { instance: { ...ready, state: "busy", sessionId, version: ready.version + 1 }, kind: "warm" };
  }
  if (options.onlyReady) return "none-ready";
  const coming =
    free.find(({ state }) => state === "starting") ?? free.find(({ state }) => state === "requested");
  if (coming) return { instance: await reserve(tx, coming, sessionId), kind: "cold" };
  const keptFree = await placesKeptFree(tx, agent, live);
  if (live.length >= agent.maxAgents - keptFree) return "agent-full";
  const { quotasOf } = options;
  const mayHave = await mayHaveInstance({ store, tx, quotasOf }, agent.organizationId, keptFree);
  if (!mayHave) return "organization-full";
  const mediaPort = await options.mediaPorts.take({ store, tx });
  if (mediaPort === "used-up") return "ports-used-up";
  const instance = newInstanceRow({ ...options, agent, sessionId, mediaPort });
  await tx.insertInto("instances").values(instance).execute();
  return { instance, kind: "cold" };
}

/** The oldest first, which is the order in which they are claimed. */
async function readLiveInstances(tx: Tx, agentId: string): Promise<PoolInstance[]> {
  return tx
    .selectFrom("instances")
    .select(POOL_COLUMNS)
    .where("agentId", "=", agentId)
    .where("state", "in", LIVE_INSTANCE_STATES)
    .orderBy("createdAt")
    .orderBy("id")
    .execute();
}

function isTaken({ sessionId, state }: PoolInstance): boolean {
  return sessionId !== null || state === "draining";
}

// Constant demand must not keep a new deployment from getting its first instance.
async function placesKeptFree(tx: Tx, agent: AgentRow, live: PoolInstance[]): Promise<number> {
  const validating = await tx
    .selectFrom("deployments")
    .select("id")
    .where("agentId", "=", agent.id)
    .where("phase", "=", "Validating")
    .execute();
  const waiting = validating.filter(({ id }) => !live.some(({ deploymentId }) => deploymentId === id));
  return agent.maxAgents > 1 ? waiting.length : 0;
}

export interface NewInstance {
  agent: Pick<AgentRow, "id" | "organizationId">;
  deploymentId: string;
  sessionId: string | null;
  mediaPort: number | null;
  newId(): string;
  epoch: number;
  nowMs: number;
}

export function newInstanceRow({
  agent,
  deploymentId,
  sessionId,
  mediaPort,
  newId,
  epoch,
  nowMs,
}: NewInstance): InstanceRow {
  return {
    id: newId(),
    organizationId: agent.organizationId,
    agentId: agent.id,
    deploymentId,
    state: "requested",
    sessionId,
    address: null,
    epoch,
    version: 1,
    createdAt: nowMs,
    stateAt: nowMs,
    readyAt: null,
    lastSeenAt: null,
    exitCode: null,
    cause: sessionId ? "a session waits for it" : "the pool wants one more",
    mediaPort,
  };
}

async function reserve(tx: Tx, row: PoolInstance, sessionId: string): Promise<PoolInstance> {
  const version = row.version + 1;
  await tx.updateTable("instances").set({ sessionId, version }).where("id", "=", row.id).execute();
  return { ...row, sessionId, version };
}
