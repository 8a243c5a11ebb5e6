import { rmSync } from "node:fs";
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { openBallast, type Ballast } from "./ballast.ts";
import { isSqliteFull } from "./store-errors.ts";

/** SQLite itself, synchronous: in a thread of its own for the service, in place for tests and the simulation. */
export interface SqliteEngine {
  /** Whether reads can pass by a transaction. */
  readonly hasReader: boolean;
  readonly isDiskFull: boolean;
  /** In their order, until one fails. */
  execute(statements: readonly Statement[]): Outcome[];
  /** Takes the reserve again if there is space; to be called now and then. */
  checkDisk(): void;
  serialize(): Uint8Array;
  close(): void;
}

export interface Statement {
  sql: string;
  parameters: readonly unknown[];
  /** `reader`: sees only what is committed. `rollback`: fine when nothing is open. */
  where: "reader" | "writer" | "transaction" | "rollback";
  /** So many rows it gives or changes; otherwise `UnmetError`, and none of those behind it is run. */
  expects?: number;
}

export interface Outcome {
  rows: Record<string, unknown>[];
  changes: number | undefined;
}

/** A statement did not find what the ones behind it rely on. What it has changed itself is for the caller to undo. */
export class UnmetError extends Error {
  override readonly name = "UnmetError";
  /** Its place among the statements. */
  readonly at: number;

  constructor(at: number) {
    super("A statement did not find what it relies on");
    this.at = at;
  }
}

export type SqliteEngineOptions =
  | { memory: true; image?: Uint8Array }
  | { memory: false; file: string; ballastBytes: number }
  | { memory: false; file: string; readOnly: true };

interface Prepared {
  statement: StatementSync;
  hasRows: boolean;
}

const BUSY_TIMEOUT_MS = 5_000;
const CHECKPOINT_PAGES = 256; // keeps the write-ahead log near 1 MiB
const PREPARED_MAX = 500; // lists in `in (…)` make new statements without end

export function openSqliteEngine(options: SqliteEngineOptions): SqliteEngine {
  try {
    return openOnce(options);
  } catch (error) {
    if (options.memory || !isSqliteFull(error)) throw error;
    if ("readOnly" in options) throw error;
    rmSync(ballastOf(options.file), { force: true }); // opening needs a little space too
    return openOnce(options);
  }
}

function ballastOf(file: string): string {
  return `${file}.ballast`;
}

function openOnce(options: SqliteEngineOptions): SqliteEngine {
  const readOnly = "readOnly" in options;
  const file = options.memory ? ":memory:" : options.file;
  const writer = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS, readOnly });
  const opened = [writer];
  let ballast: Ballast | undefined;
  let reader = writer;
  try {
    if (options.memory) {
      if (options.image) writer.deserialize(options.image);
    } else if (!("readOnly" in options)) {
      writer.exec("pragma auto_vacuum = incremental"); // of a new file; an old one changes with `vocalhost store compact`
      writer.exec("pragma journal_mode = wal");
      writer.exec("pragma synchronous = full");
      writer.exec(`pragma wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
      reader = new DatabaseSync(options.file, { timeout: BUSY_TIMEOUT_MS, readOnly: true });
      opened.push(reader);
      ballast = openBallast(ballastOf(options.file), options.ballastBytes);
    }
    if (!readOnly) writer.exec("pragma foreign_keys = on");
  } catch (error) {
    for (const database of opened) database.close();
    throw error;
  }
  const caches = new Map(opened.map((database) => [database, new Map<string, Prepared>()]));

  function prepare(database: DatabaseSync, sql: string): Prepared {
    const cache = caches.get(database)!;
    const found = cache.get(sql);
    if (found) return found;
    if (cache.size >= PREPARED_MAX) cache.clear();
    const statement = database.prepare(sql);
    // Some pragmas give no columns and still work row by row.
    const hasRows = statement.columns().length > 0 || sql.startsWith("pragma");
    const prepared = { statement, hasRows };
    cache.set(sql, prepared);
    return prepared;
  }

  function run({ sql, parameters, where }: Statement): Outcome {
    const isOpen = writer.isTransaction;
    if (where === "rollback" && !isOpen) return { rows: [], changes: undefined };
    if (where === "transaction" && !isOpen) throw new Error("The transaction is over");
    if (where === "writer" && isOpen) throw new Error("A transaction is open");
    const { statement, hasRows } = prepare(where === "reader" ? reader : writer, sql);
    const values = parameters.some(isBoolean) ? parameters.map(toValue) : (parameters as SQLInputValue[]);
    if (hasRows) return { rows: statement.all(...values), changes: undefined };
    return { rows: [], changes: Number(statement.run(...values).changes) };
  }

  function execute(statement: Statement): Outcome {
    if (statement.where === "writer") ballast?.check();
    try {
      return run(statement);
    } catch (error) {
      if (isSqliteFull(error)) ballast?.release(); // somebody was quicker than the check; the caller can begin again
      throw error;
    }
  }

  return {
    hasReader: reader !== writer,
    get isDiskFull() {
      return ballast?.isReleased ?? false;
    },
    execute: (statements) =>
      statements.map((statement, at) => {
        const outcome = execute(statement);
        const { expects } = statement;
        if (expects !== undefined && (outcome.changes ?? outcome.rows.length) !== expects)
          throw new UnmetError(at);
        return outcome;
      }),
    checkDisk: () => ballast?.restore(),
    serialize: () => writer.serialize(),
    close() {
      for (const database of opened.toReversed()) database.close();
    },
  };
}

function isBoolean(value: unknown): boolean {
  return typeof value === "boolean";
}

function toValue(value: unknown): SQLInputValue {
  return typeof value === "boolean" ? Number(value) : (value as SQLInputValue);
}
