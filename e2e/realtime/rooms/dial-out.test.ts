// A bot calls a person into its room. What a LiveKit server's SIP service would do is done here, no more leniently: it
// looks at the token and at every field, then brings somebody into the room as it brings those who answer.
import { dispose } from "@livekit/rtc-node";
import type { RoomStarted } from "@vocalhost/protocol";
import { startRoomServer } from "@vocalhost/rooms";
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import { AccessToken, TokenVerifier } from "livekit-server-sdk";
import { eventually } from "../../../testing/wait.ts";
import { isMostly } from "../../conformance/tone.ts";
import { startRunnerProcess, type RunnerProcess } from "../../harness/runner-process.ts";
import { joinFromNode, type NodeAttendee } from "./node-attendee.ts";

const KEY = { apiKey: "testkey", apiSecret: "a secret of thirty-two characters" };
const TRUNK = "ST_outbound";
const DIAL_PATH = "/twirp/livekit.SIP/CreateSIPParticipant";

const stack = new AsyncDisposableStack();
const answering: NodeAttendee[] = [];
let runner: RunnerProcess;
let livekitUrl = "";

before(async () => {
  stack.defer(() => dispose()); // or rtc-node keeps the process
  const rooms = stack.use(await startRoomServer({ ...KEY, listen: false, media: { udpPort: 0 } }));
  const server = createServer((request, response) => {
    if (request.url === DIAL_PATH) void dial(request, response);
    else if (!rooms.handleRequest(request, response)) response.writeHead(404).end();
  });
  server.on("upgrade", (request, socket, head) => {
    if (!rooms.handleUpgrade(request, socket, head)) socket.destroy();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  stack.defer(() => server.closeAllConnections());
  stack.defer(() => void server.close());
  livekitUrl = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
  runner = stack.use(
    await startRunnerProcess({
      bot: "e2e/bots/room-bot.ts",
      environment: {
        LIVEKIT_URL: livekitUrl,
        LIVEKIT_API_KEY: KEY.apiKey,
        LIVEKIT_API_SECRET: KEY.apiSecret,
        LIVEKIT_SIP_TRUNK: TRUNK,
      },
    }),
  );
});

after(() => stack.disposeAsync());

test("a bot calls a person into its room, and they hear each other", async () => {
  const { sessionId } = await start({ dial: "+15557770000" });
  await runner.printed(/called sip_\+15557770000/);
  const [ann] = answering;
  assert.ok(ann);
  await eventually({
    what: "who was called hears the bot",
    look: () => ann.hear(`Bot-${sessionId.slice(0, 8)}`),
    until: (tone) => isMostly(tone, ann.toneHz),
  });
  await ann.leave();
});

test("a call that is not answered, or is no number, is told to the bot in the server's words", async () => {
  await start({ dial: "+15550000000" });
  await runner.printed(
    /called nobody: The LiveKit server did not connect the call: busy here \(unavailable\)/,
  );
  await start({ dial: "not a number" });
  await runner.printed(/called nobody: "not a number" is not a phone number/);
});

async function start(body: object): Promise<RoomStarted> {
  const response = await fetch(`${runner.url}/start`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ transport: "room", body }),
  });
  assert.equal(response.status, 200);
  return (await response.json()) as RoomStarted;
}

async function dial(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const refuse = (status: number, code: string, msg: string): void =>
    void response
      .writeHead(status, { "content-type": "application/json" })
      .end(JSON.stringify({ code, msg }));
  const token = (request.headers.authorization ?? "").replace(/^Bearer /, "");
  const claims = await new TokenVerifier(KEY.apiKey, KEY.apiSecret).verify(token).catch(() => undefined);
  if (claims?.sip?.call !== true) return refuse(403, "permission_denied", "permissions denied");
  let text = "";
  for await (const chunk of request) text += String(chunk);
  const asked = JSON.parse(text) as Record<string, unknown>;
  const { participantIdentity: identity, roomName: room, sipCallTo: to, ...rest } = asked;
  if (rest["sipTrunkId"] !== TRUNK) return refuse(404, "not_found", "requested sip trunk does not exist");
  if (typeof identity !== "string" || typeof room !== "string" || room !== claims.video?.room)
    return refuse(400, "invalid_argument", "missing room or participant");
  assert.deepEqual(rest, { sipTrunkId: TRUNK, participantName: "Ann", waitUntilAnswered: true });
  if (to === "+15550000000") return refuse(503, "unavailable", "busy here");
  const grant = new AccessToken(KEY.apiKey, KEY.apiSecret, { identity });
  grant.addGrant({ roomJoin: true, room });
  grant.kind = "sip";
  const ann = await joinFromNode({ url: livekitUrl, token: await grant.toJwt(), identity, toneHz: 440 });
  await ann.speak();
  answering.push(ann);
  const answer = {
    participant_id: "PA_1",
    participant_identity: identity,
    room_name: room,
    sip_call_id: "SC_1",
  };
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
}
