import { prepared } from "./prepared.ts";
import { sendWithNext } from "./round-trips.ts";
import type { Schema } from "./schema.ts";
import type { Db, Tx } from "./store.ts";

/** A state machine: the states each state may go to. */
export type Arrows<State extends string> = Record<State, readonly State[]>;

/** Throws on an arrow that is not drawn. */
export function requireArrow<State extends string>(
  arrows: Arrows<State>,
  { what, from, to }: { what: string; from: State; to: State },
): void {
  if (!arrows[from].includes(to)) throw new Error(`${what} cannot go from ${from} to ${to}`);
}

/** Tables whose rows count their changes. */
type Versioned = "deployments" | "instances" | "sessions";

/** Writes to a row as it was read. False if the row has changed since. */
export async function compareAndSet<Name extends Versioned>(
  tx: Tx,
  table: Name,
  row: Pick<Schema[Name], "id" | "version">,
  changes: Changes<Name>,
): Promise<boolean> {
  const { numAffectedRows } = await tx.executeQuery(preparedSets[table](tx, valuesOf(row, changes)));
  return numAffectedRows === 1n;
}

/** The same where that must be so: the transaction fails with what `otherwise` gives, if not here then when it commits. */
export async function requireSet<Name extends Versioned>(
  tx: Tx,
  table: Name,
  { row, changes, otherwise }: RequiredSet<Name>,
): Promise<void> {
  await sendWithNext(tx, preparedSets[table](tx, valuesOf(row, changes)), { rows: 1, otherwise });
}

interface RequiredSet<Name extends Versioned> {
  row: Pick<Schema[Name], "id" | "version">;
  changes: Changes<Name>;
  otherwise(): Error;
}

type Changes<Name extends Versioned> = Partial<Omit<Schema[Name], "id" | "version">>;

interface SetValues {
  id: string;
  readVersion: number;
  version: number;
}

function valuesOf(row: { id: string; version: number }, changes: object): SetValues {
  const given = Object.entries(changes).filter(([, value]) => value !== undefined); // as Kysely would
  return { ...Object.fromEntries(given), id: row.id, readVersion: row.version, version: row.version + 1 };
}

const preparedSets = {
  deployments: prepared((db, values: SetValues) => setAsRead(db, "deployments", values)),
  instances: prepared((db, values: SetValues) => setAsRead(db, "instances", values)),
  sessions: prepared((db, values: SetValues) => setAsRead(db, "sessions", values)),
};

// The three tables have these columns alike.
function setAsRead(db: Db, table: Versioned, { id, readVersion, ...changes }: SetValues) {
  return db.updateTable(table).set(changes).where("id", "=", id).where("version", "=", readVersion);
}
