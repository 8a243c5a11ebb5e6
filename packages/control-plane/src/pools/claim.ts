import type { QuotasOf } from "../identity/quotas/quotas.ts";
import { mayHaveInstance } from "../identity/quotas/require-quota.ts";
import type { AgentRow, InstanceRow } from "@vocalhost/store/schema";
import type { Db, Store, Tx } from "@vocalhost/store/store";
import { sendWithNext } from "@vocalhost/store/round-trips";
import { LIVE_INSTANCE_STATES, moveInstance, requireInstanceMove } from "./instance-state.ts";
import type { MediaPorts } from "./media-ports.ts";

export interface ClaimOptions {
  store: Store;
  agent: AgentRow;
  /** Its instances, if they and the agent were read in this transaction and nobody else can have written since. */
  live?: PoolInstance[] | undefined;
  deploymentId: string;
  sessionId: string;
  /** None can be made where it is. */
  onlyReady?: boolean;
  quotasOf: QuotasOf;
  mediaPorts: MediaPorts;
  newId(): string;
  epoch: number;
  nowMs: number;
}

/** What a claim has to know of an instance; there may be hundreds. */
export type PoolInstance = Pick<
  InstanceRow,
  "id" | "agentId" | "deploymentId" | "state" | "sessionId" | "address" | "version"
>;

const POOL_COLUMNS = [
  "instances.id",
  "instances.agentId",
  "instances.deploymentId",
  "instances.state",
  "instances.sessionId",
  "instances.address",
  "instances.version",
] as const satisfies `instances.${keyof PoolInstance}`[];

/** Who has no place left for one more. */
export type Full = "agent-full" | "organization-full" | "ports-used-up";

/** An instance that is the session's alone: running already, on its way, or yet to be made. */
export interface Claim {
  instance: PoolInstance;
  kind: "warm" | "cold";
}

/**
 * Binds an instance to a session, inside the transaction that makes the session, or says who is at capacity. The
 * agent's row is locked first, so that what is counted here stays counted.
 */
export async function claimInstance(tx: Tx, options: ClaimOptions): Promise<Claim | Full | "none-ready"> {
  const { store, deploymentId, sessionId, nowMs } = options;
  const pool = await lockPool(tx, options);
  if (!pool) return "agent-full";
  const { agent, live } = pool;
  // The maximum may have been lowered below what is there: idle ones beyond it serve nobody any more.
  if (live.filter(isTaken).length >= agent.maxAgents) return "agent-full";
  const free = live.filter((row) => row.deploymentId === deploymentId && row.sessionId === null);
  const ready = free.find(({ state }) => state === "ready");
  if (ready) {
    await requireInstanceMove(tx, ready, { to: "busy", cause: "claimed", nowMs, changes: { sessionId } });
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
  const instance = newInstanceRow({ ...options, sessionId, mediaPort });
  await sendWithNext(tx, tx.insertInto("instances").values(instance));
  return { instance, kind: "cold" };
}

/** In SQLite whoever writes is alone: what it has read once need not be locked and read again. */
async function lockPool(
  tx: Tx,
  { store, agent: { id }, agent: read, live }: ClaimOptions,
): Promise<{ agent: AgentRow; live: PoolInstance[] } | undefined> {
  if (live) return { agent: read, live };
  const agent = await store
    .forUpdate(tx.selectFrom("agents").selectAll().where("id", "=", id))
    .executeTakeFirst();
  return agent && { agent, live: await liveInstances(tx).where("agentId", "=", id).execute() };
}

/** The oldest first, which is the order in which they are claimed. */
export function liveInstances(db: Db) {
  return db
    .selectFrom("instances")
    .select(POOL_COLUMNS)
    .where("instances.state", "in", LIVE_INSTANCE_STATES)
    .orderBy("instances.createdAt")
    .orderBy("instances.id");
}

function isTaken({ sessionId, state }: PoolInstance): boolean {
  return sessionId !== null || state === "draining";
}

// Constant demand must not keep a new deployment from proving itself.
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

/** The reserved instance goes from `ready` to `busy`; false if it is no longer there to be taken. */
export async function occupy(tx: Tx, instance: InstanceRow, nowMs: number): Promise<boolean> {
  return moveInstance(tx, instance, { to: "busy", cause: "ready for the session it was made for", nowMs });
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
  await sendWithNext(tx, tx.updateTable("instances").set({ sessionId, version }).where("id", "=", row.id));
  return { ...row, sessionId, version };
}
