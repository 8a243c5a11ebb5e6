import {
  AppError,
  CandidatesRequest,
  isAppError,
  OfferRequest,
  type IceServer,
  type OfferAnswer,
} from "@vocalhost/protocol";
import { parseOffer } from "../../media/offer.ts";
import { createWebRtcArguments } from "../../bot/runner-arguments.ts";
import { openConnection, type OpenConnection } from "../../transports/webrtc-connection.ts";
import type { Client } from "../client.ts";
import { parseRequest } from "../error-replies.ts";
import type { Session } from "../session.ts";
import type { Door, SessionHost } from "./door.ts";

interface SessionParams {
  Params: { id: string };
}

const DEFAULT_ICE_SERVERS: IceServer[] = [{ urls: ["stun:stun.l.google.com:19302"] }];

const connections = new WeakMap<Session, OpenConnection>();

/** Connects browsers by WebRTC: offers open and change a connection, with or without a started session. */
export const webrtcDoor: Door = {
  names: ["webrtc"],
  paths: ["/api/offer"],
  async start({ server, transport, input }) {
    server.media.prepare();
    const { id: sessionId } = server.sessions.create({ transport, body: input.body });
    const configured = server.iceServers();
    const iceServers =
      configured.length === 0 && input.enableDefaultIceServers === true ? DEFAULT_ICE_SERVERS : configured;
    const iceConfig = iceServers.length > 0 ? { iceConfig: { iceServers } } : {};
    return { sessionId, answer: { sessionId, ...iceConfig } };
  },
  mount: mountSessionOfferRoutes,
  mountOpen: mountOpenOfferRoutes,
  expect: ({ media }) => media.prepare(),
  async begin({ media }, _session, connect) {
    if (connect.kind === "webrtc") media.prepare(connect.iceServers);
  },
};

// An offer without a session creates one.
function mountOpenOfferRoutes(server: SessionHost): void {
  const { app, sessions } = server;
  app.post("/api/offer", async (request) => {
    const offer = parseRequest(OfferRequest, request.body);
    const known = offer.pc_id ? sessions.ofClient(webrtcDoor.names, offer.pc_id) : undefined;
    if (known) return oneAtATime(known, () => answerAgain(known, offer));
    parseOffer(offer.sdp); // validates before a session is created
    server.bot();
    return answerFirst(server, sessions.create({ transport: "webrtc", body: undefined }), offer);
  });
  app.patch("/api/offer", async (request) => {
    const { pc_id, candidates } = parseRequest(CandidatesRequest, request.body);
    return addCandidates(sessions.ofClient(webrtcDoor.names, pc_id), candidates);
  });
}

// Routes for offers of a started session.
function mountSessionOfferRoutes(server: SessionHost): void {
  const { app } = server;
  app.post<SessionParams>("/sessions/:id/api/offer", async (request) => {
    const session = requireSession(server, request.params.id);
    return asWebRtcRequest(async () => {
      if (session.transport !== "webrtc")
        throw new AppError("INVALID_WEBRTC_REQUEST", {
          message: `the session is a ${session.transport} one`,
        });
      const offer = parseRequest(OfferRequest, request.body);
      return oneAtATime(session, () =>
        connections.has(session) ? answerAgain(session, offer) : answerFirst(server, session, offer),
      );
    });
  });
  app.patch<SessionParams>("/sessions/:id/api/offer", async (request) => {
    const session = requireSession(server, request.params.id);
    return asWebRtcRequest(async () => {
      const { pc_id, candidates } = parseRequest(CandidatesRequest, request.body);
      return addCandidates(session.client?.id === pc_id ? session : undefined, candidates);
    });
  });
}

async function answerFirst(server: SessionHost, session: Session, offer: OfferRequest): Promise<OfferAnswer> {
  const { sdp } = parseOffer(offer.sdp);
  const bot = server.bot();
  session.body = offer.request_data ?? offer.requestData ?? session.body;
  const { connection, answer } = await openConnection({
    media: server.media,
    sdp,
    closed: ({ reason, unreadBytes }) => {
      if (unreadBytes !== undefined) session.log.warn({ unreadBytes }, "client does not read, closing");
      void session.end(reason === "requested" ? "stopped" : reason);
    },
    failed: (error) => session.fail(error),
  });
  connections.set(session, connection);
  session.client = clientOn(connection);
  if (session.state === "ended") {
    connection.close(); // the session ended while its offer was answered, so no other code will close it
    throw new AppError("SESSION_NOT_FOUND");
  }
  const args = createWebRtcArguments({
    sessionId: session.id,
    body: session.body,
    callData: null,
    cliArgs: server.cliArgs,
    idleTimeoutSecs: server.idleTimeoutSecs,
    signal: session.signal,
    webrtcConnection: connection,
  });
  setImmediate(() => session.run(bot, args)); // sends the answer first
  return { sdp: answer, type: "answer", pc_id: connection.peerId };
}

function clientOn(connection: OpenConnection): Client {
  return {
    get id() {
      return connection.peerId;
    },
    get isConnected() {
      return connection.state === "connected";
    },
    onConnected: (listener) => connection.on("connected", listener),
    close: () => connection.close(),
    closed: async () => undefined, // the media thread sends the close message
  };
}

async function answerAgain(session: Session, offer: OfferRequest): Promise<OfferAnswer> {
  const connection = connections.get(session);
  if (!connection) throw new AppError("PEER_NOT_FOUND");
  const { sdp } = parseOffer(offer.sdp);
  const isKnown = offer.pc_id === connection.peerId;
  if (!isKnown && connection.state === "connected" && !offer.restart_pc)
    throw new AppError("INVALID_WEBRTC_REQUEST", {
      message: offer.pc_id
        ? "PC ID mismatch with existing connection"
        : "Cannot create new connection with existing connection active",
    });
  const rebuild = offer.restart_pc === true || !isKnown;
  const answer = rebuild ? await connection.rebuild(sdp) : await connection.renegotiate(sdp);
  return { sdp: answer, type: "answer", pc_id: connection.peerId };
}

function addCandidates(
  session: Session | undefined,
  candidates: CandidatesRequest["candidates"],
): { status: "success" } {
  const connection = session && connections.get(session);
  if (!connection) throw new AppError("PEER_NOT_FOUND");
  connection.addCandidates(candidates);
  return { status: "success" };
}

function requireSession(server: SessionHost, id: string): Session {
  const session = server.sessions.get(id);
  if (!session) throw new AppError("SESSION_NOT_FOUND");
  return session;
}

/** Under a session, every final refusal has one code and status on which clients stop retrying. */
async function asWebRtcRequest<T>(answer: () => Promise<T>): Promise<T> {
  try {
    return await answer();
  } catch (error) {
    if (!isAppError(error) || error.status >= 500) throw error;
    throw new AppError("INVALID_WEBRTC_REQUEST", {
      message: `Invalid WebRTC request: ${error.message}`,
      cause: error,
    });
  }
}

const offersUnderWay = new WeakMap<Session, Promise<unknown>>();

// Browsers send a second offer while the first is being answered; the order must hold.
function oneAtATime<T>(session: Session, answer: () => Promise<T>): Promise<T> {
  const before = offersUnderWay.get(session) ?? Promise.resolve();
  const mine = before.then(answer, answer);
  offersUnderWay.set(
    session,
    mine.catch(() => undefined),
  );
  return mine;
}
