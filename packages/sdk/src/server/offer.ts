import { AppError, CandidatesRequest, isAppError, OfferRequest, type OfferAnswer } from "@vocalhost/protocol";
import { parseOffer } from "../media/offer.ts";
import { createWebRtcArguments } from "../runner-arguments.ts";
import { openConnection } from "../transports/webrtc-connection.ts";
import { parseRequest } from "./error-replies.ts";
import type { SessionServer } from "./session-server.ts";
import type { Session } from "./session.ts";

interface SessionParams {
  Params: { id: string };
}

/** `/api/offer`, on its own and under a session: a browser's peer connection comes and changes here. */
export function mountOfferRoutes(server: SessionServer): void {
  if (!server.transports.includes("webrtc")) return;
  mountOpenOfferRoutes(server);
  mountSessionOfferRoutes(server);
}

// Without a session of its own: the offer makes one.
function mountOpenOfferRoutes(server: SessionServer): void {
  const { app, sessions } = server;
  app.post("/api/offer", async (request) => {
    const offer = parseRequest(OfferRequest, request.body);
    const known = offer.pc_id ? sessions.ofPeer(offer.pc_id) : undefined;
    if (known) return oneAtATime(known, () => answerAgain(known, offer));
    parseOffer(offer.sdp); // both before a session is made for it
    server.bot();
    return answerFirst(server, sessions.create({ transport: "webrtc", body: undefined }), offer);
  });
  app.patch("/api/offer", async (request) => {
    const { pc_id, candidates } = parseRequest(CandidatesRequest, request.body);
    return addCandidates(sessions.ofPeer(pc_id), candidates);
  });
}

/** `/sessions/{id}/api/offer`: the offer of a session that was started. */
export function mountSessionOfferRoutes(server: SessionServer): void {
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
        session.connection ? answerAgain(session, offer) : answerFirst(server, session, offer),
      );
    });
  });
  app.patch<SessionParams>("/sessions/:id/api/offer", async (request) => {
    const session = requireSession(server, request.params.id);
    return asWebRtcRequest(async () => {
      const { pc_id, candidates } = parseRequest(CandidatesRequest, request.body);
      return addCandidates(session.connection?.peerId === pc_id ? session : undefined, candidates);
    });
  });
}

async function answerFirst(
  server: SessionServer,
  session: Session,
  offer: OfferRequest,
): Promise<OfferAnswer> {
  const { sdp } = parseOffer(offer.sdp);
  const bot = server.bot();
  session.body = offer.request_data ?? offer.requestData ?? session.body;
  const { connection, answer } = await openConnection({
    media: server.media,
    sdp,
    closed: (reason) => void session.end(reason === "requested" ? "stopped" : reason),
    failed: (error) => session.fail(error),
  });
  session.connection = connection;
  if (session.state === "ended") {
    connection.close(); // nobody else will: the session was ended while its offer was answered
    throw new AppError("SESSION_NOT_FOUND");
  }
  const args = createWebRtcArguments({
    sessionId: session.id,
    body: session.body,
    callData: null,
    cliArgs: server.cliArgs,
    signal: session.signal,
    webrtcConnection: connection,
  });
  setImmediate(() => session.run(bot, args)); // the answer goes first
  return { sdp: answer, type: "answer", pc_id: connection.peerId };
}

async function answerAgain(session: Session, offer: OfferRequest): Promise<OfferAnswer> {
  const connection = session.connection;
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
  if (!session?.connection) throw new AppError("PEER_NOT_FOUND");
  session.connection.addCandidates(candidates);
  return { status: "success" };
}

function requireSession(server: SessionServer, id: string): Session {
  const session = server.sessions.get(id);
  if (!session) throw new AppError("SESSION_NOT_FOUND");
  return session;
}

/** Under a session every final refusal has one name and one status; clients stop at once on it. */
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
