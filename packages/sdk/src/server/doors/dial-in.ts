import { AppError } from "@vocalhost/protocol";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { z } from "zod";
import { checkDailySignature } from "../../telephony/signatures/daily.ts";
import type { SessionServer } from "../session-server.ts";
import { openRoom } from "./open-room.ts";

/** What a server that takes phone calls into rooms goes by. */
export interface DialInSettings {
  /** Checks Daily's webhook; base64. */
  dailySecret: string | undefined;
}

interface WebhookRequest {
  Body: string | undefined;
}

const WEBHOOK_MAX_BYTES = 64 * 1024;
const CALLS_REMEMBERED_MAX = 1_000; // carriers repeat a delivery within minutes

const DailyCall = z.object({
  From: z.string(),
  To: z.string(),
  callId: z.string().min(1),
  callDomain: z.string().min(1),
  sipHeaders: z.record(z.string(), z.unknown()).nullish(),
});

/** Calls that come in through a room's provider: the bot is sent into the room with all that is known of the call. */
export function mountDialIn(server: SessionServer): void {
  const { dialIn } = server;
  if (!dialIn) return;
  const calls = new Map<string, object>();
  void server.app.register(async (scope: FastifyInstance) => {
    scope.removeAllContentTypeParsers();
    // Signatures cover the body to the letter.
    scope.addContentTypeParser(
      "*",
      { parseAs: "string", bodyLimit: WEBHOOK_MAX_BYTES },
      (_request, body, done) => done(null, body),
    );
    const options = { config: { webhook: true } };
    scope.post<WebhookRequest>("/daily-dialin-webhook", options, (request) =>
      takeDailyCall(server, request, { calls, secret: dialIn.dailySecret }),
    );
    scope.post<WebhookRequest>("/livekit-webhook", options, (request) =>
      takeLiveKitCall(server, request, calls),
    );
  });
}

async function takeDailyCall(
  server: SessionServer,
  request: FastifyRequest<WebhookRequest>,
  { calls, secret }: { calls: Map<string, object>; secret: string | undefined },
): Promise<object> {
  const rawBody = request.body ?? "";
  const told = parseJson(rawBody);
  if (told === undefined) throw new AppError("MALFORMED_JSON", { message: "Invalid JSON payload" });
  if (told["Test"] || told["test"]) return { status: "OK" }; // sent before the secret can be known here
  requireSignature(server, request, secret);
  const call = DailyCall.safeParse(told).data;
  if (!call)
    throw new AppError("INVALID_REQUEST", {
      message: "Missing required fields: From, To, callId, callDomain",
    });
  const known = calls.get(call.callId);
  if (known) return known;
  const { From, To, callId, callDomain, sipHeaders = null } = call;
  const { room } = await openRoom(server, {
    body: {
      dialin_settings: { call_id: callId, call_domain: callDomain, To, From, sip_headers: sipHeaders },
    },
    callData: { streamId: callDomain, callId, from: From, to: To, body: sipHeaders ?? {} },
    make: (rooms, sessionId) =>
      rooms.make({
        requested: "daily",
        sessionId,
        reachedAs: server.socketBase(request),
        roomProperties: undefined,
        tokenProperties: undefined,
        call: { from: From, callId, callDomain },
      }),
  });
  remember(calls, callId, room.answer);
  return room.answer;
}

async function takeLiveKitCall(
  server: SessionServer,
  request: FastifyRequest<WebhookRequest>,
  calls: Map<string, object>,
): Promise<object> {
  const { authorization } = request.headers;
  const call = await server.rooms?.readCall({ rawBody: request.body ?? "", authorization });
  if (!call || calls.has(call.callId)) return { status: "OK" };
  remember(calls, call.callId, {});
  const { callId, from, to, identity, attributes } = call;
  const { session } = await openRoom(server, {
    body: { dialin_settings: { call_id: callId, To: to, From: from, sip_headers: null } },
    callData: { streamId: identity, callId, from, to, body: attributes },
    make: (rooms, sessionId) => rooms.join({ roomName: call.roomName, sessionId }),
  });
  return { status: "OK", sessionId: session.id };
}

function requireSignature(
  server: SessionServer,
  request: FastifyRequest<WebhookRequest>,
  secret: string | undefined,
): void {
  const signed = {
    method: request.method,
    url: server.socketBase(request).replace(/^ws/, "http") + request.url,
    headers: request.headers,
    rawBody: request.body ?? "",
    nowMs: Date.now(),
  };
  if (checkDailySignature(signed, secret) === "invalid") throw new AppError("SIGNATURE_INVALID");
}

function remember(calls: Map<string, object>, callId: string, answer: object): void {
  calls.set(callId, answer);
  const [oldest] = calls.keys();
  if (calls.size > CALLS_REMEMBERED_MAX && oldest !== undefined) calls.delete(oldest);
}

function parseJson(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
