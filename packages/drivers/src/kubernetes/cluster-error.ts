import { DriverUnavailableError } from "../driver.ts";

/** Kinds of failure, by what the caller can do about them. */
export type ClusterErrorKind =
  /** The server does not answer, or its answer stopped in the middle. */
  | "unreachable"
  /** It took the question and gave no answer in time. */
  | "hung"
  /** It is there, and asks to be left alone for a while. */
  | "busy"
  /** A quota is used up. */
  | "full"
  /** We may not do that. */
  | "forbidden"
  | "missing"
  /** The name is in use. */
  | "taken"
  /** Another client has changed the object meanwhile. */
  | "conflict"
  /** The version to go on from is too old. */
  | "expired"
  | "refused";

export class ClusterError extends Error {
  override readonly name = "ClusterError";
  readonly kind: ClusterErrorKind;

  constructor(kind: ClusterErrorKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}

/** The body of an API server's refusal. */
export interface ApiStatus {
  message?: string;
  reason?: string;
}

const OURS: ReadonlySet<ClusterErrorKind> = new Set(["unreachable", "hung", "busy", "full", "forbidden"]);

export function errorOfAnswer(code: number, status: ApiStatus, call: string): ClusterError {
  const text = status.message ?? `it answered ${code}`;
  return new ClusterError(kindOf(code, status), `The cluster refused to ${call}: ${text}`);
}

function kindOf(code: number, { reason, message = "" }: ApiStatus): ClusterErrorKind {
  if (code === 401) return "forbidden";
  if (code === 403) return /exceeded quota/.test(message) ? "full" : "forbidden";
  if (code === 404) return "missing";
  if (code === 409) return reason === "AlreadyExists" ? "taken" : "conflict";
  if (code === 410) return "expired";
  if (code === 429 || code >= 500) return "busy";
  return "refused";
}

/** Errors of the cluster, or of the service's rights in it, are not the bot's fault. */
export function asDriverError(error: unknown): Error {
  if (!(error instanceof ClusterError)) return error instanceof Error ? error : new Error(String(error));
  return OURS.has(error.kind) ? new DriverUnavailableError(error.message, { cause: error }) : error;
}

export function isKind(error: unknown, ...kinds: ClusterErrorKind[]): boolean {
  return error instanceof ClusterError && kinds.includes(error.kind);
}
