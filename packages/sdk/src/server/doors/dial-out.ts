import {
  AppError,
  DialoutRequest,
  placeCall,
  requireStartBodyFits,
  type CarrierName,
  type Dialout,
} from "@vocalhost/protocol";
import type { FastifyRequest } from "fastify";
import { parseRequest } from "../error-replies.ts";
import type { DoorAnswer, SessionHost } from "./door.ts";

export interface RequestedCall {
  carrier: CarrierName;
  dialout: Dialout;
  body: unknown;
}

const RING_SECS = 60; // how long carriers let a phone ring by default
const ANSWERED_MS = 60_000; // for answering machine detection and opening the stream

/** `POST /dialout`: a shorthand for a start with `dialout`. */
export function mountDialOut(server: SessionHost): void {
  server.app.post("/dialout", async (request, reply) => {
    server.dialling?.admit(request); // first of all, so that unauthorised clients learn nothing
    const { transport, body, ...dialout } = parseRequest(DialoutRequest, request.body);
    if (!server.transports.includes(transport))
      throw new AppError("TRANSPORT_NOT_ALLOWED", {
        message: `Transport '${transport}' is not allowed. Server is configured for '${server.onlyTransport}' only (-t ${server.onlyTransport}).`,
      });
    server.bot();
    requireStartBodyFits(transport, body);
    const { sessionId, answer } = await dialOut(server, request, { carrier: transport, dialout, body });
    if (sessionId !== null) reply.header("x-vocalhost-session-id", sessionId);
    return answer;
  });
}

/** Places a call. The session waits for the answer; the carrier's stream then connects the bot. */
export async function dialOut(
  server: SessionHost,
  request: FastifyRequest,
  { carrier, dialout, body }: RequestedCall,
): Promise<DoorAnswer> {
  if (!server.dialling) throw new AppError("DIALOUT_NOT_ALLOWED");
  server.dialling.admit(request);
  const base = publicBase(server, request);
  const ringMs = (dialout.ringSecs ?? RING_SECS) * 1000;
  const session = server.sessions.create({
    transport: carrier,
    body,
    connectDeadlineMs: ringMs + ANSWERED_MS,
  });
  const token = server.tokens.issue(session.id);
  try {
    const { callId } = await placeCall(carrier, server.dialling.accounts(), {
      ...dialout,
      streamUrl: `${base}/ws/${token}`,
      answerUrl: `${base.replace(/^ws/, "http")}/calls/answer/${carrier}?token=${token}`,
    });
    session.log.info({ carrier, callId }, "calling");
    const answer = { sessionId: session.id, ...(callId ? { callId } : {}), status: "dialling" as const };
    return { sessionId: session.id, answer };
  } catch (error) {
    await session.end("never-connected");
    throw error;
  }
}

/** Refuses a call for which the carrier could not reach us: the phone would ring without a bot. */
function publicBase(server: SessionHost, request: FastifyRequest): string {
  const base = server.socketBase(request);
  if (!/^(?:localhost|127\.|\[::1\])/.test(new URL(base).host) || base.startsWith("wss:")) return base;
  throw new AppError("CARRIER_NOT_CONFIGURED", {
    message: "Carriers must reach this runner to connect a call: start it with --proxy <public host name>",
  });
}
