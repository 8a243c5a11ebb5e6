import { AppError } from "@vocalhost/protocol";

/** Whether a statement was refused because a row with these values is already there. */
export function isUniqueViolation(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if ("errcode" in error)
    return error.errcode === SQLITE.constraintUnique || error.errcode === SQLITE.constraintPrimaryKey;
  return "code" in error && error.code === POSTGRES_UNIQUE_VIOLATION;
}

/** Returns the error that callers get for an error of SQLite: trouble of the machine becomes `SERVICE_UNAVAILABLE`. */
export function fromSqliteError(error: unknown): unknown {
  if (isSqliteFull(error)) return diskIsFull(error);
  switch (sqliteCode(error) & 0xff) {
    case SQLITE.busy:
    case SQLITE.locked:
      return unavailable("The database is busy", error);
    case SQLITE.ioError:
    case SQLITE.cannotOpen:
      return unavailable("The database's file cannot be read or written", error);
    default:
      return error;
  }
}

/** Whether the file itself is broken, so that trying again is in vain. */
export function isDamaged(error: unknown): boolean {
  const code = sqliteCode(error) & 0xff;
  return code === SQLITE.corrupt || code === SQLITE.notADatabase;
}

export function isSqliteFull(error: unknown): boolean {
  const code = sqliteCode(error);
  return (code & 0xff) === SQLITE.full || code === SQLITE.ioErrorSharedMemorySize;
}

/** The same for Postgres: lost connections, a server that restarts, a full disk, a deadlock. */
export function fromPostgresError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const code = "code" in error && typeof error.code === "string" ? error.code : undefined;
  if (code === "53100") return diskIsFull(error);
  if (code === "40P01" || code === "40001")
    return unavailable("Two changes stood in each other's way", error);
  if (code === undefined ? !isServerError(error) : UNREACHABLE.test(code))
    return unavailable("The database cannot be reached", error);
  return error;
}

export function unavailable(message: string, cause?: unknown): AppError {
  return new AppError("SERVICE_UNAVAILABLE", { message, cause });
}

/** Rebuilt on this side of the thread; an error loses its fields on the way. */
export function toSqliteError(message: string, errcode: number | undefined): Error {
  return Object.assign(
    new Error(message),
    errcode === undefined ? {} : { code: "ERR_SQLITE_ERROR", errcode },
  );
}

export function sqliteCode(error: unknown): number {
  return error instanceof Error && "errcode" in error && typeof error.errcode === "number"
    ? error.errcode
    : 0;
}

const SQLITE = {
  busy: 5,
  locked: 6,
  ioError: 10,
  corrupt: 11,
  full: 13,
  cannotOpen: 14,
  notADatabase: 26,
  constraintPrimaryKey: 1555,
  constraintUnique: 2067,
  ioErrorSharedMemorySize: 4874,
};
const POSTGRES_UNIQUE_VIOLATION = "23505";
/** Connection exceptions, shutdowns, no more connections, time-outs of ours, and what the socket says. */
const UNREACHABLE = /^(08|57P|53300|57014|25P03|ECONN|EPIPE|ENOENT|ENOTFOUND|ETIMEDOUT|EHOST|ENET|EAI_)/;

const DISK_IS_FULL = "The disk is full";

export function diskIsFull(cause?: unknown): AppError {
  return unavailable(DISK_IS_FULL, cause);
}

export function isDiskFullError(error: unknown): boolean {
  return error instanceof AppError && error.message === DISK_IS_FULL;
}

/** `pg` gives errors of its own no code: "Connection terminated unexpectedly" and relatives. */
function isServerError(error: Error): boolean {
  return !/connection|timeout|not queryable|ended/i.test(error.message);
}
