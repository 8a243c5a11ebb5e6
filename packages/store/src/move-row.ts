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

/** Changes a row as it was read. Returns false if it has changed since. */
export async function compareAndSet<Name extends Versioned>(
  tx: Tx,
  table: Name,
  { id, version }: Pick<Schema[Name], "id" | "version">,
  changes: Partial<Omit<Schema[Name], "id" | "version">>,
): Promise<boolean> {
  const versioned: Versioned = table; // the three tables have these columns alike
  const { numUpdatedRows } = await tx
    .updateTable(versioned)
    .set({ ...changes, version: version + 1 })
    .where("id", "=", id)
    .where("version", "=", version)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}
