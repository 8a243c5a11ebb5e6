import { closeSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { ConfigError } from "@vocalhost/base/config-error";
import { type Log, silentLog } from "@vocalhost/base/log";
import { createStore } from "./create-store.ts";
import { migrate } from "./migrate.ts";
import { openSqliteEngine } from "./sqlite-engine.ts";
import { linkInPlace, type SqliteFile, type SqliteLink, linkToFile, linkToThread } from "./sqlite-link.ts";
import type { Store } from "./store.ts";
import { isDamaged } from "./store-errors.ts";
import {
  type BinaryOperationNode,
  ColumnNode,
  type Dialect,
  type Driver,
  type LimitNode,
  OperatorNode,
  ReferenceNode,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  ValueNode,
} from "kysely";
import { Lock, SqliteConnection } from "./sqlite-connection.ts";
import { refuseInsideTransaction } from "./transaction-scope.ts";

export interface SqliteStoreOptions {
  file: string;
  log?: Log;
  /** Told when a statement finds the file broken. */
  damaged?(error: ConfigError): void;
  /** False runs SQLite in this thread. @default true */
  inThread?: boolean;
  /** Space kept so that sessions can still be closed on a full disk. @default 8 MiB, at most a quarter of what is free */
  reserveBytes?: number;
  /** @default 5,000 */
  diskCheckMs?: number;
}

const RESERVE_BYTES = 8 * 1024 * 1024;
const DISK_CHECK_MS = 5_000;
const WAIT_LIMIT_MS = 30_000; // a transaction that lasts longer is a fault; its followers should not hang with it

export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const file: SqliteFile = {
    file: options.file,
    reserveBytes: options.reserveBytes ?? RESERVE_BYTES,
    diskCheckMs: options.diskCheckMs ?? DISK_CHECK_MS,
  };
  mkdirSync(dirname(file.file), { recursive: true, mode: 0o700 });
  closeSync(openSync(file.file, "a", 0o600)); // SQLite would make it readable for all users
  const link = await openLink(file, options);
  const isThread = options.inThread ?? true;
  const search = isThread ? await openLink({ ...file, readOnly: true }, options) : undefined;
  const { log = silentLog } = options;
  return openOn(link, { waitLimitMs: WAIT_LIMIT_MS, ...(search ? { search } : {}), log });
}

let emptyImage: Uint8Array | undefined;

/** In this thread, in memory; everything resolves within the same turn of the event loop. */
export async function openMemoryStore(): Promise<Store> {
  if (emptyImage) {
    const link = linkInPlace(openSqliteEngine({ memory: true, image: emptyImage }));
    return toStore(link, {});
  }
  const engine = openSqliteEngine({ memory: true });
  const store = await openOn(linkInPlace(engine), {});
  emptyImage = engine.serialize();
  return store;
}

async function openLink(file: SqliteFile, { inThread = true, log = silentLog, damaged }: SqliteStoreOptions) {
  try {
    return watchDamage(inThread ? await linkToThread(file, log) : linkToFile(file), { file, damaged });
  } catch (error) {
    throw isDamaged(error) ? damageOf(file, error) : error;
  }
}

function watchDamage(
  link: SqliteLink,
  { file, damaged }: { file: SqliteFile; damaged: SqliteStoreOptions["damaged"] },
): SqliteLink {
  const fail = (error: unknown): never => {
    if (!isDamaged(error)) throw error;
    const problem = damageOf(file, error);
    damaged?.(problem);
    throw problem;
  };
  return {
    hasReader: link.hasReader,
    get isDiskFull() {
      return link.isDiskFull;
    },
    execute(statement) {
      try {
        const outcome = link.execute(statement);
        return outcome instanceof Promise ? outcome.catch(fail) : outcome;
      } catch (error) {
        return fail(error);
      }
    },
    close: () => link.close(),
  };
}

function damageOf({ file }: SqliteFile, cause: unknown): ConfigError {
  return new ConfigError(
    `${file} is damaged or is not a database of this service. Move it away and restore the newest backup: vocalhost restore`,
    { cause },
  );
}

interface LinkOptions {
  waitLimitMs?: number;
  search?: SqliteLink;
  log?: Log;
}

async function openOn(link: SqliteLink, { log, ...options }: LinkOptions): Promise<Store> {
  const store = toStore(link, options);
  try {
    await migrate(store, log ? { log } : {});
    return store;
  } catch (error) {
    await link.close();
    throw error;
  }
}

function toStore(link: SqliteLink, { search, ...options }: Omit<LinkOptions, "log">): Store {
  return createStore({
    name: "sqlite",
    dialect: createSqliteDialect(link, options),
    ...(search ? { searchDialect: createSqliteDialect(search) } : {}),
    isDiskFull: () => link.isDiskFull,
  });
}

/** One writer: transactions and single writes take turns; reads pass by where SQLite has a second connection. */
export function createSqliteDialect(link: SqliteLink, options: { waitLimitMs?: number } = {}): Dialect {
  return {
    createAdapter: () => new TurnTakingAdapter(),
    createDriver: () => createDriver(link, new Lock(options)),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteCompiler(),
  };
}

class TurnTakingAdapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true; // the lock decides who waits, not Kysely
  }
}

function createDriver(link: SqliteLink, writer: Lock): Driver {
  return {
    init: async () => undefined,
    async acquireConnection() {
      refuseInsideTransaction();
      return new SqliteConnection(link, writer);
    },
    beginTransaction: async (connection) => (connection as SqliteConnection).begin(),
    commitTransaction: async (connection) => (connection as SqliteConnection).commit(),
    rollbackTransaction: async (connection) => (connection as SqliteConnection).rollback(),
    releaseConnection: async (connection) => (connection as SqliteConnection).release(),
    destroy: () => link.close(),
  };
}

/** The columns and operators in the conditions of partial indexes. */
const ASKED_BY_INDEXES: Record<string, readonly string[]> = { state: ["!=", "<>"], phase: ["="] };
const WORD = /^[A-Za-z]+$/;

/**
 * Writes some values into the text of a statement: a limit, and words that are compared as in the condition of a partial
 * index. SQLite looks at them before it decides how to run a statement. With a parameter there it compiles the statement
 * each time, which takes several times as long as running it.
 */
class SqliteCompiler extends SqliteQueryCompiler {
  protected override visitBinaryOperation(node: BinaryOperationNode): void {
    const { rightOperand } = node;
    const word = ValueNode.is(rightOperand) && isAskedByIndex(node) ? rightOperand.value : undefined;
    const isWord = typeof word === "string" && WORD.test(word);
    super.visitBinaryOperation(isWord ? { ...node, rightOperand: ValueNode.createImmediate(word) } : node);
  }

  // Only a limit of one: other limits are the callers' choice, and each would be a statement of its own.
  protected override visitLimit(node: LimitNode): void {
    const isOne = ValueNode.is(node.limit) && node.limit.value === 1;
    super.visitLimit(isOne ? { ...node, limit: ValueNode.createImmediate(1) } : node);
  }
}

function isAskedByIndex({ leftOperand, operator }: BinaryOperationNode): boolean {
  if (!ReferenceNode.is(leftOperand) || !ColumnNode.is(leftOperand.column) || !OperatorNode.is(operator))
    return false;
  return ASKED_BY_INDEXES[leftOperand.column.column.name]?.includes(operator.operator) ?? false;
}
