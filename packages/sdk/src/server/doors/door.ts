import type { Connect, Started, StartRequest, TransportName } from "@vocalhost/protocol";
import type { FastifyRequest } from "fastify";
import type { SessionServer } from "../session-server.ts";
import type { Session } from "../session.ts";

/** One way into a session: what a client asks for, is told, and comes through. */
export interface Door {
  /** The transports it answers to. */
  readonly names: readonly TransportName[];
  /** Paths a bot's own routes cannot have under a session; one that ends in a slash stands for all below it. */
  readonly paths: readonly string[];
  /** Answers `POST /start`. A session that waits for nobody runs its bot here. */
  start(asked: StartAsked): Promise<DoorAnswer>;
  /** Adds the routes through which the client of a session that was started comes. */
  mount(server: SessionServer): void;
  /** Adds the routes that make a session for whoever comes without one; never on an instance. */
  mountOpen?(server: SessionServer): void;
  /** A session will probably come through here: starts the threads it would need, while nobody waits for them. */
  expect?(server: SessionServer): void;
  /** A controller has started this session: makes ready for its client, or goes to meet it and runs the bot. */
  begin?(server: SessionServer, session: Session, connect: Connect): Promise<void>;
}

export interface StartAsked {
  server: SessionServer;
  request: FastifyRequest;
  transport: TransportName;
  input: StartRequest;
}

export interface DoorAnswer {
  /** Null when the client is not told of one. */
  sessionId: string | null;
  answer: Started;
}
