import type { RunnerArguments } from "../bot/runner-arguments.ts";
import type { Transport } from "./transport.ts";
import type { Log } from "../log.ts";

/** Callbacks by which a session observes the transports that its bot creates. */
export interface SessionHooks {
  readonly log: Log;
  /** Registers a transport; the session closes it when the bot settles. */
  transportCreated(transport: Transport, lastWords?: LastWords): void;
  /** Called on speech, keys and messages: the session is not idle. */
  active?(): void;
  /** Sets the idle timeout that the bot asked for; null: never. */
  idleAfter?(seconds: number | null): void;
  /** Called when a person is there, by transports whose clients connect elsewhere. */
  connected(): void;
  /** Called when the bot's code failed outside its own promise, for instance in a listener. */
  failed(error: unknown): void;
  /** Called when the client is gone or asked to end the session. */
  ended(reason: EndReason): void;
}

/** Audio still to be heard when the bot has returned. */
export interface LastWords {
  /** Longest time it may take; undefined: the session's default. */
  readonly maxMs: number | undefined;
  /** Drops the rest, and reports it. */
  giveUp(): void;
}

/** Reason for the end of a session; `reason` of the error that its signal aborts with. */
export type EndReason =
  | "bot-finished"
  | "bot-failed"
  | "client-left"
  | "client-lost"
  | "transferred"
  | "hung-up"
  | "idle"
  | "never-connected"
  | "stopped"
  | "deadline"
  | "shutdown";

const logs = new WeakMap<Transport, Log>();

/** Gives a transport a log, for code that works on transports. */
export function attachLog(transport: Transport, log: Log): void {
  logs.set(transport, log);
}

/** Returns a transport's log; undefined for a transport of another origin. */
export function logOf(transport: Transport): Log | undefined {
  return logs.get(transport);
}

const hooksOfArguments = new WeakMap<RunnerArguments, SessionHooks>();

export function attachHooks(args: RunnerArguments, hooks: SessionHooks): void {
  hooksOfArguments.set(args, hooks);
}

export function hooksOf(args: RunnerArguments): SessionHooks {
  const hooks = hooksOfArguments.get(args);
  if (!hooks) throw new TypeError("createTransport() needs the arguments object that bot() was given");
  return hooks;
}
