import {
  CarrierError,
  carrierNames,
  carriers,
  checkSignature,
  isCarrier,
  type CarrierName,
  type CarrierStream,
} from "@vocalhost/carriers";
import { AppError, isAppError } from "@vocalhost/protocol";
import type { FastifyRequest } from "fastify";
import type { WebSocket } from "ws";
import { createWebSocketArguments } from "../../bot/runner-arguments.ts";
import { detectCall } from "../../transports/detect.ts";
import { closeStream, noteBotFailed, setStreamOf } from "../../transports/carrier-stream.ts";
import { keepEarlyMessages } from "../../transports/early-messages.ts";
import { waitFor } from "../../transports/wait-for.ts";
import { prepareSocketVoice } from "../../transports/socket-voice.ts";
import type { Session } from "../session.ts";
import { admitSocket, type SocketRequest } from "../socket-admission.ts";
import { mountCarrierWebhook } from "./carrier-webhook.ts";
import { dialOut, mountDialOut } from "./dial-out.ts";
import type { Door, SessionHost } from "./door.ts";
import { tieToSocket } from "./socket-client.ts";

interface Admission {
  /** The session created for this call beforehand, if any. */
  session: Session | undefined;
  /** Whether a token, a signature or our own page authenticates the caller. */
  vouched: boolean;
}

const OPENING_MS = 10_000; // carriers name the call at once

/** `/ws` and `/ws/{token}`: a carrier's stream of a phone call becomes a session. */
export const carrierDoor: Door = {
  names: carrierNames,
  paths: ["/ws", "/ws/"],
  // A session is created with the socket, unless the start has data to keep for it.
  async start({ server, request, transport, input: { body, dialout } }) {
    prepareSocketVoice();
    if (dialout && isCarrier(transport))
      return dialOut(server, request, { carrier: transport, dialout, body });
    const wsUrl = `${server.socketBase(request)}/ws`;
    const needsToken = server.socketAuth === "token";
    if (!needsToken && (body === undefined || body === null)) return { sessionId: null, answer: { wsUrl } };
    const token = server.tokens.issue(server.sessions.create({ transport, body }).id);
    return { sessionId: null, answer: needsToken ? { wsUrl, token } : { wsUrl: `${wsUrl}/${token}` } };
  },
  mount: mountCarrierSockets,
  mountOpen(server) {
    mountCarrierWebhook(server);
    mountDialOut(server);
  },
  expect: prepareSocketVoice,
  async begin(_server, session, connect) {
    prepareSocketVoice();
    if (connect.kind === "socket" && connect.callbackUrl) callbackUrls.set(session, connect.callbackUrl);
  },
};

const callbackUrls = new WeakMap<Session, string>();

function mountCarrierSockets(server: SessionHost): void {
  const admissions = new WeakMap<FastifyRequest<SocketRequest>, Admission>();
  // The router limits named parameters to 100 characters; tokens are longer.
  for (const path of ["/ws", "/ws/*"]) {
    server.app.get<SocketRequest>(
      path,
      {
        websocket: true,
        config: { asksAdmission: true },
        preValidation: async (request) => {
          admissions.set(request, await admit(server, request));
          prepareSocketVoice();
        },
      },
      (socket, request) => {
        const admission = admissions.get(request);
        if (!admission) return socket.close(1011);
        socket.on("error", (error) => server.log.debug({ reason: error.message }, "socket error"));
        takeCall(server, admission, socket, request).catch((error: unknown) => {
          void admission.session?.end("never-connected");
          refuseCall(server, socket, error);
        });
      },
    );
  }
}

async function admit(server: SessionHost, request: FastifyRequest<SocketRequest>): Promise<Admission> {
  const sessionId = admitSocket(server, request);
  const session = sessionId === undefined ? undefined : server.sessions.get(sessionId);
  if (sessionId !== undefined && !(session && isCarrier(session.transport) && session.state === "waiting"))
    throw new AppError("SESSION_NOT_FOUND", {
      message: "The session of this token is over, or is not a phone call",
    });
  const isSigned = await isUpgradeSigned(server, request);
  // Browsers always send an origin, and `admitSocket` accepted our own pages only.
  const vouched = sessionId !== undefined || isSigned || request.headers.origin !== undefined;
  return { session, vouched };
}

/** Returns whether the upgrade is signed. Throws when the signature is invalid. */
async function isUpgradeSigned(
  server: SessionHost,
  request: FastifyRequest<SocketRequest>,
): Promise<boolean> {
  for (const name of carrierNames) {
    const { signature } = carriers[name];
    if (!signature?.signsUpgrades || request.headers[signature.header] === undefined) continue;
    const signed = {
      method: "GET",
      url: server.socketBase(request) + request.url,
      headers: request.headers,
      rawBody: "",
      nowMs: Date.now(),
    };
    const verdict = await checkSignature(name, signed, server.signatureKeys[name]);
    if (verdict === "invalid") throw new AppError("SIGNATURE_INVALID");
    return verdict === "valid";
  }
  return false;
}

async function takeCall(
  server: SessionHost,
  admission: Admission,
  socket: WebSocket,
  request: FastifyRequest,
): Promise<void> {
  const stream = await openingOf(socket, addressOf(request), onlyCarrier(server, admission.session));
  const { callId } = stream.callData;
  const { title, signature } = carriers[stream.carrier];
  if (signature?.signsUpgrades && server.signatureKeys[stream.carrier] && !admission.vouched)
    throw new CarrierError(
      `The WebSocket carries no ${title} signature, and ${signature.variable} is set to check it`,
    );
  if (server.sessions.ofClient(carrierNames, callId))
    throw new CarrierError(`Call ${callId} has a session already`);
  if (admission.session?.state === "ended") throw new CarrierError("The session of this call is over");
  const session = admission.session ?? server.sessions.create({ transport: stream.carrier, body: undefined });
  const reachedAs = server.socketBase(request).replace(/^ws/, "http");
  const isHosted = server.dialling === undefined; // an instance is reached through the gateway
  const callbackUrl = callbackUrls.get(session) ?? (isHosted ? undefined : reachedAs);
  setStreamOf(socket, stream, callbackUrl);
  runCall(server, session, socket, stream);
}

async function openingOf(
  socket: WebSocket,
  address: URLSearchParams,
  only: CarrierName | undefined,
): Promise<CarrierStream> {
  const deadline = new AbortController();
  const late = new CarrierError(`The carrier did not name the call within ${OPENING_MS / 1000} s`);
  const timer = setTimeout(() => deadline.abort(late), OPENING_MS);
  try {
    return await waitFor(detectCall(keepEarlyMessages(socket).peek, address, only), {
      what: "the carrier to name the call",
      signal: deadline.signal,
    });
  } finally {
    clearTimeout(timer);
  }
}

function refuseCall(server: SessionHost, socket: WebSocket, error: unknown): void {
  const isRefusal = error instanceof CarrierError || isAppError(error);
  if (isRefusal) server.log.warn({ reason: error.message.slice(0, LOGGED_MAX_CHARS) }, "call refused");
  else server.log.error({ err: error }, "taking the call failed");
  socket.close(1008, isRefusal ? closeReason(error.message) : "");
}

const LOGGED_MAX_CHARS = 300; // a refusal may quote the other side's data
const REASON_MAX_BYTES = 120; // the protocol allows 123 bytes; a cut character may grow by two

function closeReason(text: string): string {
  return Buffer.from(text).subarray(0, REASON_MAX_BYTES).toString();
}

function onlyCarrier(server: SessionHost, session: Session | undefined): CarrierName | undefined {
  const wanted = session?.transport ?? server.onlyTransport;
  return carrierNames.find((name) => name === wanted);
}

function runCall(server: SessionHost, session: Session, socket: WebSocket, stream: CarrierStream): void {
  tieToSocket(session, socket, {
    id: stream.callData.callId,
    botFailed: () => noteBotFailed(socket),
    close: () => closeStream(socket),
  });
  session.run(
    server.bot(),
    createWebSocketArguments({
      sessionId: session.id,
      body: session.body,
      callData: stream.callData,
      cliArgs: server.cliArgs,
      idleTimeoutSecs: server.idleTimeoutSecs,
      signal: session.signal,
      websocket: socket,
      transportType: stream.carrier,
    }),
  );
}

function addressOf({ url }: FastifyRequest): URLSearchParams {
  const at = url.indexOf("?");
  return new URLSearchParams(at < 0 ? "" : url.slice(at + 1));
}
