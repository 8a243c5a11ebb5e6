import type { OrganizationId } from "../identity/principal.ts";
import { badField, notFound } from "@vocalhost/base/refusals";
import type { AgentRow } from "@vocalhost/store/schema";
import type { Db, Store, Tx } from "@vocalhost/store/store";

export interface AgentAddress {
  name: string;
  /** If undefined, each function below documents its choice. */
  region?: string | undefined;
  message?: string;
}

/**
 * Finds an agent that is not deleted. Without a region it returns the one where the name was deployed first. Agents
 * of other organisations are not found.
 */
export async function findAgent(
  db: Db,
  organizationId: OrganizationId,
  address: AgentAddress,
): Promise<AgentRow> {
  const [own] = await findAgents(db, organizationId, address);
  return own;
}

/** Finds all agents of a name that are not deleted, the first deployed one first; with a region only that one. */
export async function findAgents(
  db: Db,
  organizationId: OrganizationId,
  { name, region, message = "Not found" }: AgentAddress,
): Promise<[AgentRow, ...AgentRow[]]> {
  const rows = await query(db, organizationId, { name, region }).execute();
  return requireOne(ownFirst(rows), message);
}

/** Finds the agents that accept sessions. */
export async function findLiveAgents(
  db: Db,
  organizationId: OrganizationId,
  name: string,
): Promise<[AgentRow, ...AgentRow[]]> {
  return requireLive(await query(db, organizationId, { name }).where("state", "=", "live").execute());
}

/** Picks the agent that accepts sessions, preferring the region where the name was deployed first. */
export function requireLive<Row extends Pick<AgentRow, "id" | "state" | "createdAt">>(
  rows: Row[],
): [Row, ...Row[]] {
  return requireOne(ownFirst(rows), "Service not found");
}

/**
 * Finds and locks an agent that is not deleted, until the transaction ends. A change must name the region if there
 * are several.
 */
export async function lockAgent(
  { store, tx }: { store: Store; tx: Tx },
  organizationId: OrganizationId,
  { name, region, message = "Not found" }: AgentAddress,
): Promise<AgentRow> {
  const rows = ownFirst(await store.forUpdate(query(tx, organizationId, { name }).orderBy("id")).execute());
  const [own] = requireOne(rows, message);
  const live = rows.filter(({ state }) => state === "live");
  if (region === undefined && live.length < 2) return own;
  const found = rows.find((row) => row.region === region);
  if (found) return found;
  const places = (live.length > 0 ? live : rows).map((row) => `'${row.region}'`).join(", ");
  throw badField(
    "region",
    region === undefined
      ? `The agent is in several regions, so name the one you mean: ${places}`
      : `The agent is in ${places} and not in '${region}'; create it there to deploy it in both`,
  );
}

/** Sorts the region where the name was deployed first to the front, and agents being deleted to the end. */
export function ownFirst<Row extends Pick<AgentRow, "id" | "state" | "createdAt">>(rows: Row[]): Row[] {
  const isGoing = ({ state }: Row): number => (state === "live" ? 0 : 1);
  return rows.toSorted(
    (one, other) =>
      isGoing(one) - isGoing(other) || one.createdAt - other.createdAt || (one.id < other.id ? -1 : 1),
  );
}

function requireOne<Row>([first, ...rest]: Row[], message: string): [Row, ...Row[]] {
  if (first === undefined) throw notFound(message);
  return [first, ...rest];
}

function query(db: Db, organizationId: OrganizationId, { name, region }: AgentAddress) {
  return db
    .selectFrom("agents")
    .selectAll()
    .where("organizationId", "=", organizationId)
    .where("name", "=", name)
    .where("state", "<>", "deleted")
    .$if(region !== undefined, (agents) => agents.where("region", "=", region ?? ""));
}
