import type { SignatureKeys } from "@vocalhost/carriers";
import type {
  CarrierAccounts,
  Connect,
  IceServer,
  Started,
  StartRequest,
  TransportName,
} from "@vocalhost/protocol";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Bot } from "../../bot/bot.ts";
import type { Log } from "../../log.ts";
import type { MediaHost } from "../../media/media-host.ts";
import type { SessionTable } from "../session-table.ts";
import type { Session } from "../session.ts";
import type { SocketTokens } from "../socket-tokens.ts";
import type { RoomMaker } from "./room-maker.ts";

/** One way for clients to connect to a session: what `/start` answers, and the routes that follow. */
export interface Door {
  /** The transports it serves. */
  readonly names: readonly TransportName[];
  /** Paths that a bot's own routes cannot have under a session; a trailing slash covers all paths below. */
  readonly paths: readonly string[];
  /** Answers `POST /start`. A session without an expected client starts its bot here. */
  start(asked: StartAsked): Promise<DoorAnswer>;
  /** Adds the routes through which clients of started sessions connect. */
  mount(server: SessionHost): void;
  /** Adds the routes that create a session for clients without one; not used by instances. */
  mountOpen?(server: SessionHost): void;
  /** Starts the threads that a session of this kind needs, before it is started. */
  expect?(server: SessionHost): void;
  /** Begins a session that a controller has started: prepares for its client, or runs the bot at once. */
  begin?(server: SessionHost, session: Session, connect: Connect): Promise<void>;
}

export interface StartAsked {
  server: SessionHost;
  request: FastifyRequest;
  transport: TransportName;
  input: StartRequest;
}

export interface DoorAnswer {
  /** Null when the client is not told a session id. */
  sessionId: string | null;
  answer: Started;
}

/** The session server as its doors see it. Runner and instance each provide one. */
export interface SessionHost {
  app: FastifyInstance;
  sessions: SessionTable;
  log: Log;
  media: Pick<MediaHost, "open" | "prepare">;
  tokens: SocketTokens;
  /** Throws `BOT_NOT_READY` until the bot is loaded. */
  bot(): Bot;
  cliArgs: Record<string, unknown> | undefined;
  /** Seconds of silence after which a session is ended; null: never. */
  idleTimeoutSecs: number | null;
  transports: TransportName[];
  /** The only transport that clients may use; undefined allows all of `transports`. */
  onlyTransport: TransportName | undefined;
  /** Returns ICE servers for one client; credentials in them are for that client alone. */
  iceServers(): IceServer[];
  socketAuth: "none" | "token";
  signatureKeys: SignatureKeys;
  /** Undefined where no calls may be placed, as on an instance. */
  dialling: Dialling | undefined;
  /** Makes rooms; undefined on an instance, which is told its room instead. */
  rooms: RoomMaker | undefined;
  /** Throws when a WebSocket from this origin is not allowed. */
  checkOrigin(request: FastifyRequest): void;
  /** Returns scheme, host and port by which the client reached this server, for WebSockets: `wss://example.com`. */
  socketBase(request: FastifyRequest): string;
}

/** Decides which clients may place calls, and with which accounts. */
export interface Dialling {
  /** Throws unless the client may spend money. */
  admit(request: FastifyRequest): void;
  accounts(): CarrierAccounts;
}
