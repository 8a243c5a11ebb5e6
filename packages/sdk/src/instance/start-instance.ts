import {
  AppError,
  InstanceStart,
  InstanceStop,
  limits,
  transportNames,
  type InstanceStatus,
} from "@vocalhost/protocol";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import type { BotDefinition } from "../bot/bot.ts";
import { IDLE_TIMEOUT_SECS } from "../bot/runner-arguments.ts";
import { createVoiceIsolation, provideVoiceIsolation } from "../filters/voice-isolation.ts";
import type { Log } from "../log.ts";
import type { HeldPort } from "../media/hold-media-port.ts";
import { startMediaHost } from "../media/media-host.ts";
import { beginSession, doorOf, mountDoors } from "../server/doors/doors.ts";
import { parseRequest } from "../server/error-replies.ts";
import type { SessionApp } from "../server/session-app.ts";
import { mountSessionRoutes } from "../server/session-routes.ts";
import type { SessionServer } from "../server/session-server.ts";
import type { Session } from "../server/session.ts";
import { mountVoiceFilter } from "../server/voice-filter-route.ts";
import { requireToken } from "./admission.ts";
import type { InstanceConfig } from "./config.ts";
import { createEventStream } from "./event-stream.ts";
import { createLease } from "./lease.ts";
import { isReady } from "./readiness.ts";
import { createRecords } from "./records.ts";
import { mountRehearsal } from "./rehearse.ts";

/** A session server with a one-session lease. */
export interface Instance {
  /** Call when the bot is loaded: takes requests from now on. Rejects when the bot's routes do not fit. */
  listen(bot: BotDefinition): Promise<void>;
  /** Ends its session first, if there is one. */
  end(): Promise<void>;
  /** Resolves when the instance has nothing left to do; with false when threads were left behind. */
  readonly done: Promise<boolean>;
}

export interface InstanceOptions {
  sessionApp: SessionApp;
  config: InstanceConfig;
  log: Log;
}

const LINGER_MS = 1_000; // for the last event and the client's goodbye
const MEDIA_END_MS = 3_500;
const ALIVE_MS = 1_000; // the first sign of life must not compete with the clients who are just coming
const START_MAX_BYTES = limits.jsonBodyBytes + 64 * 1024; // what a client may send, and the controller's words around it

export function startInstance({ sessionApp, config, log }: InstanceOptions): Instance {
  const { app, sessions } = sessionApp;
  const done = Promise.withResolvers<boolean>();
  const media = startMediaHost({
    log,
    iceServers: () => [],
    reach: config.reach,
    opusComplexity: config.opusComplexity,
    start: "later",
  });
  const records = createRecords(config);
  const isolation = createVoiceIsolation({ engine: config.vivaEngine, log });
  provideVoiceIsolation(isolation);
  let definition: BotDefinition | undefined;
  let heldPort: HeldPort | undefined;
  let ready = false;
  let ending = false;
  let aloneTimer: NodeJS.Timeout | undefined;
  let heartbeat: NodeJS.Timeout | undefined;

  const events = createEventStream(watchAlone);
  const lease = createLease({
    sessions,
    records,
    isolation,
    log,
    changed: () => (lease.state === "over" ? events.publish(status()) : events.publishSoon(status)),
    over: (session) => void finish(session),
  });

  // No controller is listening, perhaps for good; a running session still goes on to its own end.
  function watchAlone(listeners: number): void {
    clearTimeout(aloneTimer);
    if (listeners > 0 || ending) return;
    aloneTimer = setTimeout(() => {
      if (lease.state !== "free") return;
      log.info({ aloneMs: config.aloneMs }, "this instance is no longer needed, ending");
      void finish(undefined);
    }, config.aloneMs);
  }

  function status(): InstanceStatus {
    return {
      instanceId: config.instanceId,
      epoch: lease.epoch,
      ready: ready && !ending && lease.state === "free",
      session: lease.status(),
      cpuMs: cpuMs(),
      memoryBytes: process.memoryUsage.rss(),
    };
  }

  async function beat(): Promise<void> {
    await lease.recordAlive();
    ready = await isReady(definition, log);
    if (!ending) events.publish(status());
  }

  async function holdPort(): Promise<void> {
    const { port } = config.reach;
    if (port === undefined) return;
    const { holdMediaPort } = await import("../media/hold-media-port.ts"); // most have none
    heldPort = await holdMediaPort(port);
  }

  async function finish(session: Session | undefined): Promise<void> {
    ending = true;
    heldPort?.release();
    clearTimeout(aloneTimer);
    clearInterval(heartbeat);
    const goodbye = Promise.all([events.end(), session?.client?.closed()]);
    await Promise.race([goodbye, pause(LINGER_MS)]);
    const mediaEnded = media[Symbol.asyncDispose]().then(() => true);
    done.resolve(await Promise.race([mediaEnded, pause(MEDIA_END_MS, false)]));
  }

  function requireBot(): BotDefinition {
    if (ending) throw new AppError("SHUTTING_DOWN");
    if (!definition) throw new AppError("BOT_NOT_READY");
    return definition;
  }

  const server: SessionServer = {
    app,
    sessions,
    log,
    media: {
      ...media,
      prepare(iceServers) {
        if (iceServers) heldPort?.release(); // its session has begun
        media.prepare(iceServers);
      },
    },
    tokens: {
      issue: (sessionId) => sessionId,
      redeem: (sessionId) => lease.takeSocket(sessionId),
    },
    bot: () => requireBot().bot,
    cliArgs: undefined,
    idleTimeoutSecs: IDLE_TIMEOUT_SECS,
    transports: [...transportNames],
    onlyTransport: undefined,
    iceServers: () => [],
    socketAuth: "token",
    // Those who may reach an instance have judged origin and signature.
    checkOrigin: () => undefined,
    socketBase: () => "ws://instance",
    signatureKeys: {},
    rooms: undefined, // the controller makes them
    dialling: undefined, // the controller does it
  };

  function begin({ sessionId, connect, filter }: InstanceStart): void {
    // Whether the filter can run decides a bill, and must be known even if we are gone at once.
    if (filter !== null) void lease.recordAlive();
    else setTimeout(() => void lease.recordAlive(), ALIVE_MS).unref();
    const session = sessions.get(sessionId);
    if (session) beginSession(server, session, connect);
  }

  function mountInstanceRoutes(): void {
    app.get("/instance", async () => {
      ready = await isReady(definition, log);
      return status();
    });
    app.get("/instance/events", { exposeHeadRoute: false }, (_request, reply) =>
      events.open(reply, status()),
    );
    app.post("/instance/start", { bodyLimit: START_MAX_BYTES }, async (request) => {
      const input = parseRequest(InstanceStart, request.body);
      if (lease.state === "free") {
        ready = await isReady(requireBot(), log);
        if (!ready) throw new AppError("BOT_NOT_READY", { message: "The bot's readyz() says no" });
        requireBot();
      }
      if (lease.start(input) === "new") setImmediate(begin, input); // behind the answer, which somebody waits for
      return status();
    });
    app.post("/instance/stop", async (request) => {
      lease.stop(parseRequest(InstanceStop, request.body));
      return status();
    });
  }

  requireToken(app, config.token);
  mountInstanceRoutes();
  const rehearsal = mountRehearsal(app);
  mountDoors(server);
  mountVoiceFilter(app, isolation);
  mountSessionRoutes(server);
  return {
    done: done.promise,
    async listen(bot) {
      await holdPort();
      definition = bot;
      ready = await isReady(bot, log);
      await app.listen({ host: config.host, port: config.port });
      const { address, port } = app.server.address() as AddressInfo;
      const reachable = hostPort(address, port);
      await records.address(config.ip === undefined ? reachable : hostPort(config.ip, port));
      heartbeat = setInterval(() => void beat(), config.heartbeatMs);
      watchAlone(events.listeners);
      await rehearsal.run(reachable, config.token); // whoever waits for us is on his way meanwhile
      if (config.expects && lease.state === "free") doorOf(config.expects).expect?.(server);
    },
    async end() {
      if (lease.state === "open") await lease.end("shutdown");
      else if (!ending) await finish(undefined);
      await done.promise;
    },
  };
}

function hostPort(ip: string, port: number): string {
  return ip.includes(":") ? `[${ip}]:${port}` : `${ip}:${port}`;
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return Math.round((user + system) / 1000);
}
