import type { FastifyInstance, FastifyRequest } from "fastify";
import { openRoom } from "./open-room.ts";
import type { CallReader } from "./room-maker.ts";
import type { SessionHost } from "./door.ts";

interface WebhookRequest {
  Body: string | undefined;
}

const WEBHOOK_MAX_BYTES = 64 * 1024;
const CALLS_REMEMBERED_MAX = 1_000; // carriers repeat a delivery within minutes

/** Takes calls that arrive through a room's provider: the bot joins the room with the call's data. */
export function mountDialIn(server: SessionHost): void {
  const readers = server.rooms?.calls;
  if (!readers) return;
  const calls = new Map<string, object>();
  void server.app.register(async (scope: FastifyInstance) => {
    scope.removeAllContentTypeParsers();
    // Signatures cover the exact bytes of the body.
    scope.addContentTypeParser(
      "*",
      { parseAs: "string", bodyLimit: WEBHOOK_MAX_BYTES },
      (_request, body, done) => done(null, body),
    );
    const options = { config: { webhook: true } };
    for (const [path, read] of [
      ["/daily-dialin-webhook", readers.daily],
      ["/livekit-webhook", readers.livekit],
    ] as const)
      scope.post<WebhookRequest>(path, options, (request) => takeCall(server, request, { calls, read }));
  });
}

async function takeCall(
  server: SessionHost,
  request: FastifyRequest<WebhookRequest>,
  { calls, read }: { calls: Map<string, object>; read: CallReader },
): Promise<object> {
  const call = await read({ rawBody: request.body ?? "", headers: request.headers });
  if (!call) return { status: "OK" };
  const known = calls.get(call.callId);
  if (known) return known;
  remember(calls, call.callId, { status: "OK" }); // remembered while its room is being created, too
  try {
    const { body, callData, open } = call;
    const { room } = await openRoom(server, { body, callData, make: (_rooms, id) => open(id) });
    remember(calls, call.callId, room.answer);
    return room.answer;
  } catch (error) {
    calls.delete(call.callId);
    throw error;
  }
}

function remember(calls: Map<string, object>, callId: string, answer: object): void {
  calls.set(callId, answer);
  const [oldest] = calls.keys();
  if (calls.size > CALLS_REMEMBERED_MAX && oldest !== undefined) calls.delete(oldest);
}
