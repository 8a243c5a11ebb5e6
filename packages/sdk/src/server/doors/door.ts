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

/** One way into a session: what a client asks for, is told, and comes through. */
export interface Door {
  /** The transports it answers to. */
  readonly names: readonly TransportName[];
  /** Paths a bot's own routes cannot have under a session; one that ends in a slash stands for all below it. */
  readonly paths: readonly string[];
  /** Answers `POST /start`. A session that waits for nobody runs its bot here. */
  start(asked: StartAsked): Promise<DoorAnswer>;
  /** Adds the routes through which the client of a session that was started comes. */
  mount(server: SessionHost): void;
  /** Adds the routes that make a session for whoever comes without one; never on an instance. */
  mountOpen?(server: SessionHost): void;
  /** A session will probably come through here: starts the threads it would need, while nobody waits for them. */
  expect?(server: SessionHost): void;
  /** A controller has started this session: makes ready for its client, or goes to meet it and runs the bot. */
  begin?(server: SessionHost, session: Session, connect: Connect): Promise<void>;
}

export interface StartAsked {
  server: SessionHost;
  request: FastifyRequest;
  transport: TransportName;
  input: StartRequest;
}

export interface DoorAnswer {
  /** Null when the client is not told of one. */
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
