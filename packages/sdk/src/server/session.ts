import type { SessionId, SessionMarks, TransportName } from "@vocalhost/protocol";
import { AsyncLocalStorage } from "node:async_hooks";
import { setTimeout as setTimeoutPromise } from "node:timers/promises";
import type { Bot } from "../bot/bot.ts";
import type { Log } from "../log.ts";
import type { RunnerArguments } from "../bot/runner-arguments.ts";
import type { Transport } from "../transports/transport.ts";
import { attachHooks, type EndReason, type LastWords } from "../transports/session-hooks.ts";
import { SessionEnded } from "./session-ended.ts";
import type { Client } from "./client.ts";
import { createIdleWatch } from "./idle-watch.ts";

/** One conversation: waits for its client, runs the bot once, ends once. */
export interface Session {
  readonly id: SessionId;
  readonly transport: TransportName;
  readonly state: "waiting" | "running" | "ended";
  /** What the client sent along; an offer may bring its own. */
  body: unknown;
  readonly signal: AbortSignal;
  /** How long somebody may take to come. */
  readonly connectDeadlineMs: number;
  /** Set by the door once somebody has come through it. */
  client: Client | undefined;
  readonly log: Log;
  run(bot: Bot, args: RunnerArguments): void;
  /** Aborts the bot; resolves when the session is over. */
  end(reason: EndReason): Promise<void>;
  /** Code of the bot failed outside its promise. */
  fail(error: unknown): void;
}

export interface SessionOptions {
  id: SessionId;
  transport: TransportName;
  body: unknown;
  log: Log;
  connectDeadlineMs: number;
  /** What a bot may take to end after its signal aborted. @default 5000 */
  stopGraceMs?: number;
  /** What a finished bot's queued audio may take to be heard. @default 10000 */
  lastWordsMs?: number;
  /** Something happened for the first time. */
  marked?(mark: keyof SessionMarks): void;
  ended(reason: EndReason): void;
}

const CLIENT_BUFFER_MS = 800; // sent is not heard: clients hold audio back, longer when busy, and drop it when we close
const CLOSE_MS = 8_000; // hanging up a phone call takes five at most; what takes longer must not keep the session

const currentSession = new AsyncLocalStorage<Session>();

/** The session whose bot the running code belongs to. */
export function sessionOfRunningCode(): Session | undefined {
  return currentSession.getStore();
}

export function createSession(options: SessionOptions): Session {
  const { log } = options;
  const stopGraceMs = options.stopGraceMs ?? 5_000;
  const lastWordsMs = options.lastWordsMs ?? 10_000;
  const controller = new AbortController();
  const transports = new Map<Transport, LastWords | undefined>();
  const over = Promise.withResolvers<void>();
  const marked = new Set<keyof SessionMarks>();
  const createdMs = performance.now();
  let state: Session["state"] = "waiting";
  const idle = createIdleWatch({
    isBusy: () => [...transports.keys()].some(({ audioOut }) => audioOut.queuedMs > 0),
    idle(seconds) {
      log.info({ seconds }, "nobody has spoken for too long");
      void session.end("idle");
    },
  });
  const connectTimer = setTimeout(() => void session.end("never-connected"), options.connectDeadlineMs);

  async function closeTransports(): Promise<void> {
    const closing = [...transports.keys()].map((transport) =>
      transport
        .close()
        .catch((error: unknown) => log.warn({ err: error }, "transport did not close cleanly")),
    );
    const patience = new AbortController();
    const late = setTimeoutPromise(CLOSE_MS, "late", { signal: patience.signal }).catch(() => "");
    if ((await Promise.race([Promise.all(closing), late])) === "late")
      log.warn({ closeMs: CLOSE_MS }, "transport did not close in time");
    patience.abort();
    tellClient(() => session.client?.close());
  }

  // A bot has its client's socket and may have bent it: the session is over all the same.
  function tellClient(tell: () => void): void {
    try {
      tell();
    } catch (error) {
      log.warn({ err: error }, "client could not be told of the end");
    }
  }

  async function finish(reason: EndReason): Promise<void> {
    if (state === "ended") return;
    state = "ended";
    clearTimeout(connectTimer);
    idle.end();
    if (reason === "bot-failed") tellClient(() => session.client?.botFailed?.());
    await closeTransports();
    options.ended(reason);
    log.info({ reason, seconds: Math.round(performance.now() - createdMs) / 1000 }, "session ended");
    over.resolve();
  }

  function markClient(): void {
    const connected = (): void => mark("clientConnected");
    if (session.client?.isConnected) connected();
    else session.client?.onConnected(connected);
  }

  function mark(name: keyof SessionMarks): void {
    if (marked.has(name)) return;
    marked.add(name);
    options.marked?.(name);
  }

  async function lastWords(): Promise<void> {
    const { signal } = controller;
    const spoken = [...transports].map(async ([{ audioOut }, words]) => {
      const timeoutMs = words?.maxMs ?? lastWordsMs;
      await audioOut.drained({ signal, timeoutMs }).catch(() => {
        if (!signal.aborted) words?.giveUp();
      });
      await setTimeoutPromise(Math.min(CLIENT_BUFFER_MS, timeoutMs), undefined, { signal });
    });
    await Promise.allSettled(spoken);
  }

  async function runBot(bot: Bot, args: RunnerArguments): Promise<EndReason> {
    const gaveUp = Promise.withResolvers<"gave-up">();
    const onAbort = (): void => {
      const timer = setTimeout(() => gaveUp.resolve("gave-up"), stopGraceMs);
      void over.promise.finally(() => clearTimeout(timer));
    };
    if (controller.signal.aborted) onAbort();
    controller.signal.addEventListener("abort", onAbort, { once: true });
    const outcome = await Promise.race([
      settled(() => {
        mark("botEntered");
        return currentSession.run(session, () => bot(args));
      }),
      gaveUp.promise,
    ]);
    if (outcome === "gave-up") log.warn({ stopGraceMs }, "bot did not end when asked, left behind");
    else if (outcome.error !== undefined && !controller.signal.aborted) {
      log.error({ err: outcome.error }, "bot failed");
      return "bot-failed";
    }
    if (!controller.signal.aborted) await lastWords();
    return reasonOf(controller.signal) ?? "bot-finished";
  }

  const session: Session = {
    id: options.id,
    transport: options.transport,
    get state() {
      return state;
    },
    body: options.body,
    signal: controller.signal,
    connectDeadlineMs: options.connectDeadlineMs,
    client: undefined,
    log,
    run(bot, args) {
      if (state !== "waiting") return;
      state = "running";
      clearTimeout(connectTimer);
      log.info({ transport: options.transport }, "session started");
      markClient();
      attachHooks(args, {
        log,
        transportCreated(transport, words) {
          if (transports.size === 0) idle.allow(args.pipelineIdleTimeoutSecs); // one that talks in another way is left alone
          transports.set(transport, words);
          transport.audioOut.on("started", () => mark("firstAudio"));
        },
        connected: () => mark("clientConnected"),
        active: idle.active,
        idleAfter: idle.allow,
        failed: (error) => session.fail(error),
        ended: (reason) => void session.end(reason),
      });
      void runBot(bot, args)
        .then((reason) => {
          if (!controller.signal.aborted) controller.abort(new SessionEnded(reason));
          return finish(reason);
        })
        .catch((error: unknown) => log.error({ err: error }, "session did not end cleanly"));
    },
    async end(reason) {
      if (!controller.signal.aborted) controller.abort(new SessionEnded(reason));
      if (state === "waiting") await finish(reason);
      await over.promise;
    },
    fail(error) {
      if (error === controller.signal.reason) return; // forgotten, but no failure: it waited with the signal
      log.error({ err: error }, "bot failed");
      void session.end("bot-failed");
    },
  };
  return session;
}

function reasonOf(signal: AbortSignal): EndReason | undefined {
  return signal.reason instanceof SessionEnded ? signal.reason.reason : undefined;
}

/** Never rejects; `error` is set when the bot threw, synchronously or not. */
async function settled(run: () => Promise<unknown>): Promise<{ error?: unknown }> {
  try {
    await run();
    return {};
  } catch (error) {
    return { error: error ?? new Error("The bot threw nothing") };
  }
}
