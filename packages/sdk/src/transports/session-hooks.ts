import type { RunnerArguments } from "../bot/runner-arguments.ts";
import type { Transport } from "./transport.ts";
import type { Log } from "../log.ts";

/** What a session wants to know of the transports its bot creates. */
export interface SessionHooks {
  readonly log: Log;
  /** The session closes it when the bot settles. */
  transportCreated(transport: Transport, lastWords?: LastWords): void;
  /** Somebody spoke, pressed a key or sent a message: the session is not idle. */
  active?(): void;
  /** How long it may be idle, where the bot says so itself; null: for ever. */
  idleAfter?(seconds: number | null): void;
  /** Somebody to talk with is there; for transports whose door cannot see them come. */
  connected(): void;
  /** The bot's code failed outside its own promise, for instance in a listener. */
  failed(error: unknown): void;
  /** The client is gone or asked for the end. */
  ended(reason: EndReason): void;
}

/** What is still to be heard when the bot has returned. */
export interface LastWords {
  /** How long it may take; undefined: as long as the session gives everybody. */
  readonly maxMs: number | undefined;
  /** It took too long: the rest is lost, and somebody should know. */
  giveUp(): void;
}

/** Why a session ends; `reason` of the error that its signal aborts with. */
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

/** For what works on a transport and has something to say about it. */
export function attachLog(transport: Transport, log: Log): void {
  logs.set(transport, log);
}

/** Undefined for a transport that is not ours. */
export function logOf(transport: Transport): Log | undefined {
  return logs.get(transport);
}

const hooksOfArguments = new WeakMap<RunnerArguments, SessionHooks>();

export function attachHooks(args: RunnerArguments, hooks: SessionHooks): void {
  hooksOfArguments.set(args, hooks);
}

export function hooksOf(args: RunnerArguments): SessionHooks {
  const hooks = hooksOfArguments.get(args);
  if (!hooks) throw new TypeError("createTransport() wants the arguments object that bot() was given");
  return hooks;
}
