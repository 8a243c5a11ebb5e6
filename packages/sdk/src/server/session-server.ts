import type { IceServer, TransportName } from "@vocalhost/protocol";
import type { FastifyRequest } from "fastify";
import type { Bot } from "../bot/bot.ts";
import type { Log } from "../log.ts";
import type { MediaHost } from "../media/media-host.ts";
import type { Dialling } from "./doors/dial-out.ts";
import type { RoomMaker } from "./doors/room-maker.ts";
import { mountOpenDoors } from "./doors/doors.ts";
import { mountSessionRoutes } from "./session-routes.ts";
import type { SessionApp } from "./session-app.ts";
import type { SignatureKeys } from "@vocalhost/carriers";
import type { SocketTokens } from "./socket-tokens.ts";
import { mountStartRoute } from "./start.ts";

/** What the routes of a session server need. */
export interface SessionServer extends SessionApp {
  log: Log;
  media: MediaHost;
  tokens: SocketTokens;
  /** Throws `BOT_NOT_READY` until the bot is loaded. */
  bot(): Bot;
  cliArgs: Record<string, unknown> | undefined;
  /** Sessions in which nobody speaks for so long are ended; null: none are. */
  idleTimeoutSecs: number | null;
  transports: TransportName[];
  /** The only transport clients may use, if the server was told so. */
  onlyTransport: TransportName | undefined;
  /** For one client; credentials in it are for that one. */
  iceServers(): IceServer[];
  socketAuth: "none" | "token";
  signatureKeys: SignatureKeys;
  /** Who may place calls, and with whose accounts; an instance places none. */
  dialling: Dialling | undefined;
  /** Makes rooms; an instance is told of one instead. */
  rooms: RoomMaker | undefined;
  /** Throws when a WebSocket from this origin is not welcome. */
  checkOrigin(request: FastifyRequest): void;
  /** Scheme, host and port under which the client reached us, for WebSockets: `wss://example.com`. */
  socketBase(request: FastifyRequest): string;
}

/** Adds every route through which sessions are started and reached. */
export function mountSessionServer(server: SessionServer): void {
  mountStartRoute(server);
  mountOpenDoors(server);
  mountSessionRoutes(server);
}
