import { DriverUnavailableError } from "../driver.ts";

/** Kinds of failure, by what the caller can do about them. */
export type EngineErrorKind =
  /** The engine does not listen at its socket, or stopped in the middle of an answer. */
  | "unreachable"
  /** It took the question and gave no answer in time. */
  | "hung"
  | "full"
  /** There is no such container, image or network. */
  | "missing"
  /** The name is in use. */
  | "taken"
  | "refused";

export class EngineError extends Error {
  override readonly name = "EngineError";
  readonly kind: EngineErrorKind;

  constructor(kind: EngineErrorKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}

const UNREACHABLE = /ECONNREFUSED|ENOENT|EACCES|ECONNRESET|EPIPE|socket hang up|aborted/;
const FULL = /no space left on device|ENOSPC|disk quota exceeded/i;
const TAKEN = /already in use|name conflict|Conflict\. The container name/i;

/** The engines say the same in different words and with different numbers, so the words count. */
export function toEngineError(error: unknown, { call, socket }: { call: string; socket: string }): Error {
  if (error instanceof EngineError) return error;
  const { statusCode, code = "" } = error as { statusCode?: number; code?: string };
  const text = wordsOf(error);
  const make = (kind: EngineErrorKind, message: string): EngineError =>
    new EngineError(kind, message, { cause: error });
  if (FULL.test(text) || FULL.test(code)) return make("full", `The container engine's disk is full: ${text}`);
  if (statusCode === undefined && (UNREACHABLE.test(code) || UNREACHABLE.test(text)))
    return make("unreachable", `The container engine cannot be reached at ${socket} (${code || text})`);
  if (TAKEN.test(text)) return make("taken", text);
  if (statusCode === 404) return make("missing", text);
  return make("refused", `The container engine refused to ${call}: ${text}`);
}

/** Errors of the engine, or of its machine, are not the bot's fault. */
export function asDriverError(error: unknown): Error {
  if (!(error instanceof EngineError)) return error instanceof Error ? error : new Error(String(error));
  const isOurs = error.kind === "unreachable" || error.kind === "hung" || error.kind === "full";
  return isOurs ? new DriverUnavailableError(error.message, { cause: error }) : error;
}

export function isMissing(error: unknown): boolean {
  return error instanceof EngineError && error.kind === "missing";
}

function wordsOf(error: unknown): string {
  return ((error as { message?: string }).message ?? String(error)).trim();
}
