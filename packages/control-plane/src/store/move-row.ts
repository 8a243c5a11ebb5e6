import { sendWithNext } from "./round-trips.ts";
import type { Schema } from "./schema.ts";
import type { Tx } from "./store.ts";

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
  const { numUpdatedRows } = await setAsRead(tx, table, { row, changes }).executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** The same where that must be so: the transaction fails with what `otherwise` gives, if not here then when it commits. */
export async function requireSet<Name extends Versioned>(
  tx: Tx,
  table: Name,
  {
    otherwise,
    ...set
  }: { row: Pick<Schema[Name], "id" | "version">; changes: Changes<Name>; otherwise(): Error },
): Promise<void> {
  await sendWithNext(tx, setAsRead(tx, table, set), { rows: 1, otherwise });
}

type Changes<Name extends Versioned> = Partial<Omit<Schema[Name], "id" | "version">>;

function setAsRead<Name extends Versioned>(
  tx: Tx,
  table: Name,
  { row, changes }: { row: Pick<Schema[Name], "id" | "version">; changes: Changes<Name> },
) {
  const versioned: Versioned = table; // the three have these columns alike
  return tx
    .updateTable(versioned)
    .set({ ...changes, version: row.version + 1 })
    .where("id", "=", row.id)
    .where("version", "=", row.version);
}
