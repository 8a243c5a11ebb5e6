import { AppError, transportNames, type StatusAnswer } from "@vocalhost/protocol";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { createHash, timingSafeEqual } from "node:crypto";
import { isIPv6, type AddressInfo } from "node:net";
import type { Bot } from "../bot/bot.ts";
import {
  createVoiceIsolation,
  provideVoiceIsolation,
  type VoiceIsolation,
} from "../filters/voice-isolation.ts";
import { startMediaHost } from "../media/media-host.ts";
import type { MediaTiming } from "../media/messages.ts";
import type { Log } from "../log.ts";
import { createSocketTokens } from "../server/socket-tokens.ts";
import type { SessionApp } from "../server/session-app.ts";
import type { Dialling, SessionHost } from "../server/doors/door.ts";
import { mountSessionServer } from "../server/session-server.ts";
import { mountVoiceFilter } from "../server/voice-filter-route.ts";
import { provideUploads } from "../bot/uploads.ts";
import { mountClientPage, mountFiles } from "./files.ts";
import { carrierAccounts, type RunnerConfig } from "./config.ts";
import { createGuards, installGuards } from "./guards.ts";
import { createRunnerRooms } from "./rooms.ts";
import { mountUploads } from "./take-uploads.ts";
import { iceServersOf } from "./turn.ts";

/** A listening runner. Disposing it ends its sessions first, then the rest. */
export interface Runner extends AsyncDisposable {
  /** URL for a browser on this machine. */
  readonly url: string;
  readonly sessionCount: number;
  /** Ends the media thread without closing its connections, so that the process can exit. */
  abandon(): Promise<void>;
}

export interface RunnerOptions {
  sessionApp: SessionApp;
  config: RunnerConfig;
  log: Log;
  cliArgs: Record<string, unknown> | undefined;
  /** Undefined while the bot is being loaded. */
  bot(): Bot | undefined;
  mediaTiming?: Partial<MediaTiming>;
}

export async function startRunner(options: RunnerOptions): Promise<Runner> {
  const { config, log } = options;
  const { app, sessions } = options.sessionApp;
  await using stack = new AsyncDisposableStack(); // undoes a half-finished start
  const media = stack.use(
    startMediaHost({
      log,
      iceServers: () => iceServersOf(config),
      reach: config.reach,
      opusComplexity: config.opusComplexity,
      start: "later", // loading the page or a start request prepares it
      ...(options.mediaTiming ? { timing: options.mediaTiming } : {}),
    }),
  );
  const isolation = config.voiceFilter && provideRunnerFilter(config.voiceFilter, log);
  let shuttingDown = false;
  const rooms = stack.use(
    createRunnerRooms(config.rooms, {
      log,
      takesCalls: config.takesCalls,
      botUrl: () => nearUrl(app, config),
    }),
  );
  const guards = createGuards(config);
  installGuards(app, guards);
  const server: SessionHost = {
    ...hostSettings(config),
    app,
    sessions,
    log,
    media,
    tokens: createSocketTokens(),
    bot() {
      if (shuttingDown) throw new AppError("SHUTTING_DOWN");
      const bot = options.bot();
      if (!bot) throw new AppError("BOT_NOT_READY");
      return bot;
    },
    cliArgs: options.cliArgs,
    checkOrigin: guards.checkOrigin,
    rooms,
  };
  mountSessionServer(server);
  if (server.transports.includes("room")) rooms.mount(app);
  app.get("/status", async (): Promise<StatusAnswer> => ({
    status: "ready",
    transports: server.transports,
  }));
  mountVoiceFilter(app, isolation);
  mountFiles(app, config.folder);
  mountUploads(app, config.uploads);
  provideUploads(config.uploads?.folder);
  mountClientPage(app, { visited: () => media.prepare() });
  stack.defer(() => app.close());
  await app.listen(config.devSocket ? { path: config.devSocket } : { host: config.host, port: config.port });
  stack.defer(async () => {
    shuttingDown = true;
    await sessions.endAll();
  });
  const owned = stack.move();
  const { port } = config.devSocket ? config : (app.server.address() as AddressInfo);
  return {
    url: `http://${browsableHost(config.host)}:${port}`,
    get sessionCount() {
      return sessions.size;
    },
    abandon: async () => media[Symbol.asyncDispose](),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function hostSettings(config: RunnerConfig) {
  return {
    idleTimeoutSecs: config.idleTimeoutSecs,
    transports: config.onlyTransport ? [config.onlyTransport] : [...transportNames],
    onlyTransport: config.onlyTransport,
    iceServers: () => iceServersOf(config),
    socketAuth: config.socketAuth,
    socketBase: (request: FastifyRequest) => socketBase(request, config.proxy),
    signatureKeys: config.signatureKeys,
    dialling: createDialling(config.dialoutKey),
  };
}

/** Returns the base URL under which this client can open WebSockets to us. */
export function socketBase(request: FastifyRequest, proxy: string | undefined): string {
  if (proxy) return `wss://${proxy}`;
  const forwarded = request.headers["x-forwarded-proto"];
  const secure = (Array.isArray(forwarded) ? forwarded[0] : forwarded)?.split(",", 1)[0]?.trim() === "https";
  return `${secure ? "wss" : "ws"}://${request.headers.host}`; // the guards have checked the host
}

/** Calls cost money, so placing them takes a key of its own, from any address. */
function createDialling(key: string | undefined): Dialling {
  return {
    admit({ headers }) {
      if (key === undefined)
        throw new AppError("DIALOUT_NOT_ALLOWED", {
          message:
            "This runner places no calls. Set VOCALHOST_DIALOUT_KEY to a secret of your own; clients that send it as a bearer token may then place calls",
        });
      const given = /^bearer +(\S+) *$/i.exec(headers.authorization ?? "")?.[1];
      if (given === undefined || !isSame(given, key)) throw new AppError("DIALOUT_NOT_ALLOWED");
    },
    accounts: carrierAccounts,
  };
}

function isSame(given: string, key: string): boolean {
  return timingSafeEqual(digest(given), digest(key));
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

// Bots are expected to omit the filter locally, so the flag attaches it without being asked.
function provideRunnerFilter(
  { model, engine }: NonNullable<RunnerConfig["voiceFilter"]>,
  log: Log,
): VoiceIsolation {
  const isolation = createVoiceIsolation({ engine, log, attaches: "always" });
  isolation.begin(model);
  provideVoiceIsolation(isolation);
  return isolation;
}

/** Returns the base URL for bots of this process; with hot reload, that of the front process. */
function nearUrl(app: FastifyInstance, { host, port, devSocket }: RunnerConfig): string {
  const address = devSocket ? { port } : (app.server.address() as AddressInfo);
  return `ws://${browsableHost(host)}:${address.port}`;
}

// A wildcard address is not one that a browser can open.
function browsableHost(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "localhost";
  return isIPv6(host) ? `[${host}]` : host;
}
