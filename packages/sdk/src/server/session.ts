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
  /** Data from the client's start request; an offer may replace it. */
  body: unknown;
  readonly signal: AbortSignal;
  /** How long the session waits for its client. */
  readonly connectDeadlineMs: number;
  /** Set by the door once a client has connected. */
  client: Client | undefined;
  readonly log: Log;
  run(bot: Bot, args: RunnerArguments): void;
  /** Aborts the bot; resolves when the session is over. */
  end(reason: EndReason): Promise<void>;
  /** Reports that the bot's code failed outside its promise. */
  fail(error: unknown): void;
}

export interface SessionOptions {
  id: SessionId;
  transport: TransportName;
  body: unknown;
  log: Log;
  connectDeadlineMs: number;
  /** Longest time a bot may take to return after its signal aborted. @default 5000 */
  stopGraceMs?: number;
  /** Longest time to play a finished bot's queued audio. @default 10000 */
  lastWordsMs?: number;
  /** Called when a milestone is reached for the first time. */
  marked?(mark: keyof SessionMarks): void;
  ended(reason: EndReason): void;
}

const CLIENT_BUFFER_MS = 800; // clients buffer sent audio, longer when busy, and drop it when the connection closes
const CLOSE_MS = 8_000; // hanging up a phone call takes up to five seconds; slower transports must not hold the session

const currentSession = new AsyncLocalStorage<Session>();

/** Returns the session whose bot called the current code. */
export function sessionOfRunningCode(): Session | undefined {
  return currentSession.getStore();
}

export function createSession(options: SessionOptions): Session {
  return new BotSession(options);
}

class BotSession implements Session {
  readonly #options: SessionOptions;
  readonly #stopGraceMs: number;
  readonly #lastWordsMs: number;
  readonly #controller = new AbortController();
  readonly #transports = new Map<Transport, LastWords | undefined>();
  readonly #over = Promise.withResolvers<void>();
  readonly #marked = new Set<keyof SessionMarks>();
  readonly #createdMs = performance.now();
  #state: Session["state"] = "waiting";
  readonly #idle = createIdleWatch({
    isBusy: () => [...this.#transports.keys()].some(({ audioOut }) => audioOut.queuedMs > 0),
    idle: (seconds) => {
      this.#options.log.info({ seconds }, "session idle for too long, ending");
      void this.end("idle");
    },
  });
  readonly #connectTimer: NodeJS.Timeout;
  readonly id: SessionId;
  readonly transport: TransportName;
  body: unknown;
  readonly signal: AbortSignal = this.#controller.signal;
  readonly connectDeadlineMs: number;
  client: Client | undefined;
  readonly log: Log;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#stopGraceMs = options.stopGraceMs ?? 5_000;
    this.#lastWordsMs = options.lastWordsMs ?? 10_000;
    this.#connectTimer = setTimeout(() => void this.end("never-connected"), options.connectDeadlineMs);
    this.id = options.id;
    this.transport = options.transport;
    this.body = options.body;
    this.connectDeadlineMs = options.connectDeadlineMs;
    this.log = options.log;
  }

  get state(): "waiting" | "running" | "ended" {
    return this.#state;
  }

  run(bot: Bot, args: RunnerArguments): void {
    if (this.#state !== "waiting") return;
    this.#state = "running";
    clearTimeout(this.#connectTimer);
    this.#options.log.info({ transport: this.#options.transport }, "session started");
    this.#markClient();
    attachHooks(args, {
      log: this.#options.log,
      transportCreated: (transport, words) => {
        if (this.#transports.size === 0) this.#idle.allow(args.pipelineIdleTimeoutSecs); // a bot without a transport has no idle timeout
        this.#transports.set(transport, words);
        transport.audioOut.on("started", () => this.#mark("firstAudio"));
      },
      connected: () => this.#mark("clientConnected"),
      active: this.#idle.active,
      idleAfter: this.#idle.allow,
      failed: (error) => this.fail(error),
      ended: (reason) => void this.end(reason),
    });
    void this.#runBot(bot, args)
      .then((reason) => {
        if (!this.#controller.signal.aborted) this.#controller.abort(new SessionEnded(reason));
        return this.#finish(reason);
      })
      .catch((error: unknown) => this.#options.log.error({ err: error }, "session did not end cleanly"));
  }

  async end(reason: EndReason): Promise<void> {
    if (!this.#controller.signal.aborted) this.#controller.abort(new SessionEnded(reason));
    if (this.#state === "waiting") await this.#finish(reason);
    await this.#over.promise;
  }

  fail(error: unknown): void {
    if (error === this.#controller.signal.reason) return; // an unhandled rejection with the signal's own reason is no failure
    this.#options.log.error({ err: error }, "bot failed");
    void this.end("bot-failed");
  }

  async #closeTransports(): Promise<void> {
    const closing = [...this.#transports.keys()].map((transport) =>
      transport
        .close()
        .catch((error: unknown) => this.#options.log.warn({ err: error }, "transport did not close cleanly")),
    );
    const patience = new AbortController();
    const late = setTimeoutPromise(CLOSE_MS, "late", { signal: patience.signal }).catch(() => "");
    if ((await Promise.race([Promise.all(closing), late])) === "late")
      this.#options.log.warn({ closeMs: CLOSE_MS }, "transport did not close in time");
    patience.abort();
    this.#tellClient(() => this.client?.close());
  }

  // The bot may have modified its client's socket; an exception must not keep the session open.
  #tellClient(tell: () => void): void {
    try {
      tell();
    } catch (error) {
      this.#options.log.warn({ err: error }, "telling the client about the end failed");
    }
  }

  async #finish(reason: EndReason): Promise<void> {
    if (this.#state === "ended") return;
    this.#state = "ended";
    clearTimeout(this.#connectTimer);
    this.#idle.end();
    if (reason === "bot-failed") this.#tellClient(() => this.client?.botFailed?.());
    await this.#closeTransports();
    this.#options.ended(reason);
    this.#options.log.info(
      { reason, seconds: Math.round(performance.now() - this.#createdMs) / 1000 },
      "session ended",
    );
    this.#over.resolve();
  }

  #markClient(): void {
    const connected = (): void => this.#mark("clientConnected");
    if (this.client?.isConnected) connected();
    else this.client?.onConnected(connected);
  }

  #mark(name: keyof SessionMarks): void {
    if (this.#marked.has(name)) return;
    this.#marked.add(name);
    this.#options.marked?.(name);
  }

  async #lastWords(): Promise<void> {
    const { signal } = this.#controller;
    const spoken = [...this.#transports].map(async ([{ audioOut }, words]) => {
      const timeoutMs = words?.maxMs ?? this.#lastWordsMs;
      await audioOut.drained({ signal, timeoutMs }).catch(() => {
        if (!signal.aborted) words?.giveUp();
      });
      await setTimeoutPromise(Math.min(CLIENT_BUFFER_MS, timeoutMs), undefined, { signal });
    });
    await Promise.allSettled(spoken);
  }

  async #runBot(bot: Bot, args: RunnerArguments): Promise<EndReason> {
    const gaveUp = Promise.withResolvers<"gave-up">();
    const onAbort = (): void => {
      const timer = setTimeout(() => gaveUp.resolve("gave-up"), this.#stopGraceMs);
      void this.#over.promise.finally(() => clearTimeout(timer));
    };
    if (this.#controller.signal.aborted) onAbort();
    this.#controller.signal.addEventListener("abort", onAbort, { once: true });
    const outcome = await Promise.race([
      settled(() => {
        this.#mark("botEntered");
        return currentSession.run(this, () => bot(args));
      }),
      gaveUp.promise,
    ]);
    if (outcome === "gave-up")
      this.#options.log.warn(
        { stopGraceMs: this.#stopGraceMs },
        "bot did not return when its signal aborted, abandoned",
      );
    else if (outcome.error !== undefined && !this.#controller.signal.aborted) {
      this.#options.log.error({ err: outcome.error }, "bot failed");
      return "bot-failed";
    }
    if (!this.#controller.signal.aborted) await this.#lastWords();
    return reasonOf(this.#controller.signal) ?? "bot-finished";
  }
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
    return { error: error ?? new Error("The bot threw undefined") };
  }
}
