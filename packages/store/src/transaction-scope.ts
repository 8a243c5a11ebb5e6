import { AsyncLocalStorage } from "node:async_hooks";

const scopes = new AsyncLocalStorage<{ isOpen: boolean; sharesCommit?: boolean }>();

/** Runs what begins a transaction whose commit may be another one's too. */
export function sharingCommit<T>(run: () => Promise<T>): Promise<T> {
  const isOpen = scopes.getStore()?.isOpen ?? false; // one inside another is still to be refused
  return scopes.run({ isOpen, sharesCommit: true }, run);
}

/** Whether the transaction that is about to begin may share its commit. */
export function sharesCommit(): boolean {
  return scopes.getStore()?.sharesCommit ?? false;
}

/** Runs the inside of a transaction so that `refuseInsideTransaction` knows. */
export async function inTransactionScope<T>(run: () => Promise<T>): Promise<T> {
  const scope = { isOpen: true };
  try {
    return await scopes.run(scope, run);
  } finally {
    scope.isOpen = false;
  }
}

/**
 * A statement on another connection, made while one's own transaction is open, waits for itself (SQLite) or sees
 * another world (Postgres). Better to hear it at once.
 */
export function refuseInsideTransaction(): void {
  if (scopes.getStore()?.isOpen) throw new Error("Inside a transaction, use the transaction's handle");
}

/** For work on another store while a transaction of this one is open. */
export function outsideTransactionScope<T>(run: () => Promise<T>): Promise<T> {
  return scopes.exit(run);
}
