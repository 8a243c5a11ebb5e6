import { rmSync } from "node:fs";
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { DiskReserve } from "./disk-reserve.ts";
import { isSqliteFull } from "./store-errors.ts";

export interface Statement {
  sql: string;
  parameters: readonly unknown[];
  /**
   * `reader` sees only what is committed, `first` begins a transaction, `rollback` does nothing where no transaction is
   * open.
   */
  where: "reader" | "writer" | "first" | "transaction" | "rollback";
}

export interface Outcome {
  rows: Record<string, unknown>[];
  numAffectedRows?: bigint;
}

export type SqliteEngineOptions =
  | { memory: true; image?: Uint8Array }
  | { memory: false; file: string; reserveBytes: number }
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
    return new SqliteEngine(options);
  } catch (error) {
    if (options.memory || "readOnly" in options || !isSqliteFull(error)) throw error;
    rmSync(reserveOf(options.file), { force: true }); // opening needs a little space too
    return new SqliteEngine(options);
  }
}

function reserveOf(file: string): string {
  return `${file}.ballast`;
}

/** SQLite itself, synchronous. The service runs it in a thread of its own, tests and the simulation in their own thread. */
export class SqliteEngine {
  readonly #writer: DatabaseSync;
  /** Passes by an open transaction. */
  readonly #reader: DatabaseSync | undefined;
  readonly #reserve: DiskReserve | undefined;
  readonly #prepared = new Map<DatabaseSync, Map<string, Prepared>>();

  constructor(options: SqliteEngineOptions) {
    const readOnly = "readOnly" in options;
    const file = options.memory ? ":memory:" : options.file;
    this.#writer = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS, readOnly });
    try {
      if (options.memory) {
        if (options.image) this.#writer.deserialize(options.image);
      } else if (!("readOnly" in options)) {
        this.#writer.exec("pragma auto_vacuum = incremental"); // of a new file; `vocalhost store compact` changes an old one
        this.#writer.exec("pragma journal_mode = wal");
        this.#writer.exec("pragma synchronous = full");
        this.#writer.exec(`pragma wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
        this.#reader = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS, readOnly: true });
        this.#reserve = new DiskReserve(reserveOf(file), options.reserveBytes);
      }
      if (!readOnly) this.#writer.exec("pragma foreign_keys = on");
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** Whether reads can pass by a transaction. */
  get hasReader(): boolean {
    return this.#reader !== undefined;
  }

  get isDiskFull(): boolean {
    return this.#reserve?.isReleased ?? false;
  }

  execute(statement: Statement): Outcome {
    if (statement.where === "writer" || statement.where === "first") this.#reserve?.check();
    try {
      return this.#run(statement);
    } catch (error) {
      if (isSqliteFull(error)) this.#reserve?.release(); // the disk filled up since the check; the caller can begin again
      throw error;
    }
  }

  /** Takes the disk reserve again if there is space; called from time to time. */
  checkDisk(): void {
    this.#reserve?.restore();
  }

  serialize(): Uint8Array {
    return this.#writer.serialize();
  }

  close(): void {
    this.#reader?.close();
    this.#writer.close();
  }

  #run({ sql, parameters, where }: Statement): Outcome {
    const isOpen = this.#writer.isTransaction;
    if (where === "rollback" && !isOpen) return { rows: [] };
    if (where === "transaction" && !isOpen) throw new Error("The transaction is over");
    if ((where === "writer" || where === "first") && isOpen) throw new Error("A transaction is open");
    if (where === "first") this.#writer.exec("begin immediate");
    const database = where === "reader" ? (this.#reader ?? this.#writer) : this.#writer;
    const { statement, hasRows } = this.#prepare(database, sql);
    const values = parameters.map(toValue);
    if (hasRows) return { rows: statement.all(...values) };
    return { rows: [], numAffectedRows: BigInt(statement.run(...values).changes) };
  }

  #prepare(database: DatabaseSync, sql: string): Prepared {
    const known = this.#prepared.get(database) ?? new Map<string, Prepared>();
    this.#prepared.set(database, known);
    const found = known.get(sql);
    if (found) return found;
    if (known.size >= PREPARED_MAX) known.clear();
    const statement = database.prepare(sql);
    // Some pragmas give no columns and still work row by row.
    const hasRows = statement.columns().length > 0 || sql.startsWith("pragma");
    const prepared = { statement, hasRows };
    known.set(sql, prepared);
    return prepared;
  }
}

function toValue(value: unknown): SQLInputValue {
  return typeof value === "boolean" ? Number(value) : (value as SQLInputValue);
}
