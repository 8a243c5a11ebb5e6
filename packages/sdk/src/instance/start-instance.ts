import { AppError, transportNames, type InstanceStart, type InstanceStatus } from "@vocalhost/protocol";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import type { BotDefinition, Readiness } from "../bot/bot.ts";
import { IDLE_TIMEOUT_SECS } from "../bot/runner-arguments.ts";
import {
  createVoiceIsolation,
  provideVoiceIsolation,
  type VoiceIsolation,
} from "../filters/voice-isolation.ts";
import type { Log } from "../log.ts";
import type { HeldPort } from "../media/hold-media-port.ts";
import { startMediaHost, type MediaHost } from "../media/media-host.ts";
import { beginSession, doorOf, mountDoors } from "../server/doors/doors.ts";
import type { SessionApp } from "../server/session-app.ts";
import type { SessionHost } from "../server/doors/door.ts";
import { mountSessionRoutes } from "../server/session-server.ts";
import type { Session } from "../server/session.ts";
import { mountVoiceFilter } from "../server/voice-filter-route.ts";
import type { InstanceConfig } from "./config.ts";
import { createEventStream, type EventStream } from "./event-stream.ts";
import { mountInstanceRoutes, requireToken } from "./instance-routes.ts";
import { createLease, type Lease } from "./lease.ts";
import { createRecords, type Records } from "./records.ts";
import { mountRehearsal, type Rehearsal } from "./rehearse.ts";

/** A session server with a one-session lease. */
export interface Instance {
  /** Takes requests from now on. Call it when the bot is loaded. Rejects when the bot's routes are invalid. */
  listen(bot: BotDefinition): Promise<void>;
  /** Ends its session first, if there is one. */
  end(): Promise<void>;
  /** Resolves when the instance has nothing left to do; with false when threads are still running. */
  readonly done: Promise<boolean>;
}

export interface InstanceOptions {
  sessionApp: SessionApp;
  config: InstanceConfig;
  log: Log;
}

const LINGER_MS = 1_000; // for the last event and the client's close message
const MEDIA_END_MS = 3_500;
const ALIVE_MS = 1_000; // the first alive record must not compete with the client that is connecting
const READYZ_MS = 1_000; // a later answer counts as no

export function startInstance(options: InstanceOptions): Instance {
  return new LeasedInstance(options);
}

class LeasedInstance implements Instance {
  readonly #options: InstanceOptions;
  readonly #done = Promise.withResolvers<boolean>();
  readonly #media: MediaHost;
  readonly #records: Records;
  readonly #isolation: VoiceIsolation;
  readonly #events: EventStream;
  readonly #lease: Lease;
  readonly #server: SessionHost;
  readonly #rehearsal: Rehearsal;
  #definition: BotDefinition | undefined;
  #heldPort: HeldPort | undefined;
  #isReady = false;
  #isEnding = false;
  #aloneTimer: NodeJS.Timeout | undefined;
  #heartbeat: NodeJS.Timeout | undefined;

  constructor(options: InstanceOptions) {
    const { sessionApp, config, log } = options;
    const { app, sessions } = sessionApp;
    this.#options = options;
    this.#media = startMediaHost({
      log,
      iceServers: () => [],
      reach: config.reach,
      opusComplexity: config.opusComplexity,
      start: "later",
    });
    this.#records = createRecords(config);
    this.#isolation = createVoiceIsolation({ engine: config.vivaEngine, log });
    provideVoiceIsolation(this.#isolation);
    this.#events = createEventStream((listeners) => this.#watchAlone(listeners));
    this.#lease = createLease({
      sessions,
      records: this.#records,
      isolation: this.#isolation,
      log,
      changed: () => this.#onLeaseChanged(),
      over: (session) => void this.#finish(session),
    });
    this.#server = this.#createServer();
    requireToken(app, config.token);
    mountInstanceRoutes({
      app,
      lease: this.#lease,
      events: this.#events,
      status: () => this.#status(),
      refresh: () => this.#refresh(),
      requireReady: () => this.#requireReady(),
      begin: (input) => this.#begin(input),
    });
    this.#rehearsal = mountRehearsal(app);
    mountDoors(this.#server);
    mountVoiceFilter(app, this.#isolation);
    mountSessionRoutes(this.#server);
  }

  get done(): Promise<boolean> {
    return this.#done.promise;
  }

  async listen(bot: BotDefinition): Promise<void> {
    const { config, sessionApp } = this.#options;
    const { app } = sessionApp;
    await this.#holdPort();
    this.#definition = bot;
    await this.#refresh();
    await app.listen({ host: config.host, port: config.port });
    const { address, port } = app.server.address() as AddressInfo;
    const reachable = hostPort(address, port);
    await this.#records.address(config.ip === undefined ? reachable : hostPort(config.ip, port));
    this.#heartbeat = setInterval(() => void this.#beat(), config.heartbeatMs);
    this.#watchAlone(this.#events.listeners);
    await this.#rehearsal.run(reachable, config.token); // the controller's first request is under way meanwhile
    if (config.expects && this.#lease.state === "free") doorOf(config.expects).expect?.(this.#server);
  }

  async end(): Promise<void> {
    if (this.#lease.state === "open") await this.#lease.end("shutdown");
    else if (!this.#isEnding) await this.#finish(undefined);
    await this.#done.promise;
  }

  #createServer(): SessionHost {
    const { sessionApp, log } = this.#options;
    return {
      app: sessionApp.app,
      sessions: sessionApp.sessions,
      log,
      media: {
        open: (handle) => this.#media.open(handle),
        prepare: (iceServers) => {
          if (iceServers) this.#heldPort?.release(); // its session has begun
          this.#media.prepare(iceServers);
        },
      },
      tokens: {
        issue: (sessionId) => sessionId,
        redeem: (sessionId) => this.#lease.takeSocket(sessionId),
      },
      bot: () => this.#requireBot().bot,
      cliArgs: undefined,
      idleTimeoutSecs: IDLE_TIMEOUT_SECS,
      transports: [...transportNames],
      onlyTransport: undefined,
      iceServers: () => [],
      socketAuth: "token",
      // The gateway has checked origin and signature.
      checkOrigin: () => undefined,
      socketBase: () => "ws://instance",
      signatureKeys: {},
      rooms: undefined, // made by the controller
      dialling: undefined, // done by the controller
    };
  }

  #onLeaseChanged(): void {
    if (this.#lease.state === "over") this.#events.publish(this.#status());
    else this.#events.publishSoon(() => this.#status());
  }

  // Ends an instance that no controller listens to, unless its session is running.
  #watchAlone(listeners: number): void {
    const { config, log } = this.#options;
    clearTimeout(this.#aloneTimer);
    if (listeners > 0 || this.#isEnding) return;
    this.#aloneTimer = setTimeout(() => {
      if (this.#lease.state !== "free") return;
      log.info({ aloneMs: config.aloneMs }, "this instance is no longer needed, ending");
      void this.#finish(undefined);
    }, config.aloneMs);
  }

  #status(): InstanceStatus {
    return {
      instanceId: this.#options.config.instanceId,
      epoch: this.#lease.epoch,
      ready: this.#isReady && !this.#isEnding && this.#lease.state === "free",
      session: this.#lease.status(),
      cpuMs: cpuMs(),
      memoryBytes: process.memoryUsage.rss(),
    };
  }

  async #beat(): Promise<void> {
    await this.#lease.recordAlive();
    await this.#refresh();
    if (!this.#isEnding) this.#events.publish(this.#status());
  }

  async #refresh(): Promise<void> {
    this.#isReady = await isReady(this.#definition, this.#options.log);
  }

  async #requireReady(): Promise<void> {
    this.#requireBot();
    await this.#refresh();
    if (!this.#isReady) throw new AppError("BOT_NOT_READY", { message: "The bot's readyz() says no" });
    this.#requireBot();
  }

  #requireBot(): BotDefinition {
    if (this.#isEnding) throw new AppError("SHUTTING_DOWN");
    if (!this.#definition) throw new AppError("BOT_NOT_READY");
    return this.#definition;
  }

  async #holdPort(): Promise<void> {
    const { port } = this.#options.config.reach;
    if (port === undefined) return;
    const { holdMediaPort } = await import("../media/hold-media-port.ts"); // most instances have none
    this.#heldPort = await holdMediaPort(port);
  }

  #begin({ sessionId, connect, filter }: InstanceStart): void {
    // The filter's status decides about billing, and must be on record even if this process dies at once.
    if (filter !== null) void this.#lease.recordAlive();
    else setTimeout(() => void this.#lease.recordAlive(), ALIVE_MS).unref();
    const session = this.#options.sessionApp.sessions.get(sessionId);
    if (session) beginSession(this.#server, session, connect);
  }

  async #finish(session: Session | undefined): Promise<void> {
    this.#isEnding = true;
    this.#heldPort?.release();
    clearTimeout(this.#aloneTimer);
    clearInterval(this.#heartbeat);
    const goodbye = Promise.all([this.#events.end(), session?.client?.closed()]);
    await Promise.race([goodbye, pause(LINGER_MS)]);
    const mediaEnded = this.#media[Symbol.asyncDispose]().then(() => true);
    this.#done.resolve(await Promise.race([mediaEnded, pause(MEDIA_END_MS, false)]));
  }
}

/** A bot in JavaScript may return nothing. */
type ReadyzAnswer = Readiness | null | undefined;

/** Returns whether the bot would take a session now. A bot without `readyz` always would. */
async function isReady(definition: BotDefinition | undefined, log: Log): Promise<boolean> {
  if (!definition) return false;
  if (!definition.readyz) return true;
  const patience = new AbortController();
  try {
    const late = pause(READYZ_MS, false, { signal: patience.signal }).catch(() => false);
    const answer = (await Promise.race([definition.readyz(), late])) as ReadyzAnswer;
    return Boolean(typeof answer === "object" ? answer?.ready : answer);
  } catch (error) {
    log.warn({ err: error }, "readyz failed");
    return false;
  } finally {
    patience.abort();
  }
}

function hostPort(ip: string, port: number): string {
  return ip.includes(":") ? `[${ip}]:${port}` : `${ip}:${port}`;
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return Math.round((user + system) / 1000);
}
