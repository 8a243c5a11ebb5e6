import { AsyncLocalStorage } from "node:async_hooks";

interface Scope {
  /** Whether a transaction is open here. */
  isOpen: boolean;
  /** How long the transaction that begins here may take. */
  limitMs: number | undefined;
}

const scopes = new AsyncLocalStorage<Scope>();

/** Runs what begins a transaction. One inside another is still refused. */
export function beginningTransaction<T>(limitMs: number | undefined, run: () => Promise<T>): Promise<T> {
  return scopes.run({ isOpen: scopes.getStore()?.isOpen ?? false, limitMs }, run);
}

/** Returns how long the transaction that is about to begin may take. */
export function transactionLimitMs(): number | undefined {
  return scopes.getStore()?.limitMs;
}

/** Runs the inside of a transaction so that `refuseInsideTransaction` knows. */
export async function inTransactionScope<T>(run: () => Promise<T>): Promise<T> {
  const scope: Scope = { isOpen: true, limitMs: undefined };
  try {
    return await scopes.run(scope, run);
  } finally {
    scope.isOpen = false;
  }
}

/**
 * Throws where a transaction is open. A statement that another connection makes meanwhile waits for that transaction on
 * SQLite, and sees other data on Postgres.
 */
export function refuseInsideTransaction(): void {
  if (scopes.getStore()?.isOpen) throw new Error("Inside a transaction, use the transaction's handle");
}

/** Runs work on another store while a transaction of this one is open. */
export function outsideTransactionScope<T>(run: () => Promise<T>): Promise<T> {
  return scopes.exit(run);
}
