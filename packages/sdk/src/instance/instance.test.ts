import { encodeFrame, limits, parseFrame } from "@vocalhost/protocol";
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { test } from "node:test";
import { patientMs } from "../../../../testing/patience.ts";
import { isBuilt } from "../../../../testing/programs.ts";
import { until } from "../../../../testing/wait.ts";
import { spawnInstance } from "../testing/instance-process.ts";

const WAITING_BOT = `
export async function bot({ signal }) {
  await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
}
`;

const ECHO_BOT = `
import { createTransport } from "vocalhost";
export async function bot(args) {
  const transport = await createTransport(args, { audioIn: { sampleRateHz: 24_000 } });
  for await (const frame of transport.audioIn) transport.audioOut.write(frame);
}
`;

const OFFER = `v=0
o=- 1 2 IN IP4 127.0.0.1
s=-
t=0 0
a=group:BUNDLE 0
m=audio 9 UDP/TLS/RTP/SAVPF 111
c=IN IP4 0.0.0.0
a=ice-ufrag:abcd
a=ice-pwd:0123456789abcdef01234567
a=fingerprint:sha-256 ${Array.from({ length: 32 }, () => "AB").join(":")}
a=setup:actpass
a=mid:0
a=sendrecv
a=rtcp-mux
a=rtpmap:111 opus/48000/2
`;

test("runs one session and no other, and says the same when asked again", async () => {
  await using instance = spawnInstance({ bot: WAITING_BOT });
  const idle = await instance.status();
  assert.equal(idle.instanceId, "instance-1");
  assert.equal(idle.ready, true);
  assert.equal(idle.session, null);
  assert.ok(idle.cpuMs > 0 && idle.memoryBytes > 1e6);

  const id = randomUUID();
  const [first, second] = [await instance.start(id), await instance.start(id)];
  for (const { status, body } of [first, second]) {
    assert.equal(status, 200);
    assert.deepEqual([body["ready"], (body["session"] as { state: string }).state], [false, "waiting"]);
  }
  const other = await instance.start(randomUUID());
  assert.deepEqual([other.status, other.body["code"]], [409, "INSTANCE_TAKEN"]);

  assert.equal((await instance.stop(randomUUID())).status, 200);
  assert.equal((await instance.status()).session?.state, "waiting");
  assert.equal((await instance.stop(id)).status, 200);
  assert.equal(await instance.exited(), 0);
  assert.equal((instance.exitRecord(id) as { reason: string }).reason, "stopped");
});

test("an older controller is not listened to", async () => {
  await using instance = spawnInstance({ bot: WAITING_BOT });
  const id = randomUUID();
  assert.equal((await instance.start(id, { epoch: 5 })).status, 200);
  for (const answer of [
    await instance.start(id, { epoch: 4 }),
    await instance.start(randomUUID(), { epoch: 4 }),
    await instance.stop(id, { epoch: 4 }),
  ])
    assert.deepEqual([answer.status, answer.body["code"]], [409, "EPOCH_STALE"]);
  assert.equal((await instance.stop(randomUUID(), { epoch: 6 })).status, 200);
  assert.equal((await instance.stop(id, { epoch: 5 })).status, 409);
  assert.equal((await instance.status()).epoch, 6);
});

test("requests without the token are refused", async () => {
  await using instance = spawnInstance({
    bot: `
      import { app } from "vocalhost/runner";
      app.get("/mine", async () => "secret");
      export async function bot() {}
    `,
  });
  for (const path of ["/instance", "/instance/events", "/mine", "/nothing", "/sessions/x/y", "/ws-client/x"])
    for (const token of [null, "wrong", ""])
      assert.equal((await instance.request("GET", path, undefined, token)).status, 401, path);
  assert.equal((await instance.request("POST", "/instance/start", {}, "0123456789abcdeX")).status, 401);
  await assert.rejects(instance.socket("/ws-client/x", "wrong"), /401/);
  for (const path of ["/start", "/api/offer", "/"])
    assert.equal((await instance.request("POST", path, {})).status, 404, path);
  assert.equal((await instance.request("POST", "/instance/start", { epoch: "1" })).status, 422);
});

test("a bot sees neither the token nor what its instance was told", async () => {
  await using instance = spawnInstance({
    bot: `
      import { app, main } from "vocalhost/runner";
      const environment = JSON.stringify(process.env);
      app.addHook("onRequest", async (request) => { request.seen = JSON.stringify([request.headers, request.raw.rawHeaders]); });
      app.get("/mine", async (request) => ({ environment, seen: request.seen, sessionId: request.sessionId }));
      export async function bot() {}
      await main(); // does nothing here
    `,
    environment: { SECRET: "of the bot" },
  });
  const id = randomUUID();
  await instance.start(id);
  const { status, body } = await instance.request("GET", `/sessions/${id}/mine`);
  assert.equal(status, 200);
  assert.equal(body["sessionId"], id);
  assert.doesNotMatch(String(body["seen"]), /0123456789abcdef|authorization/i);
  assert.doesNotMatch(String(body["environment"]), /VOCALHOST_INSTANCE|0123456789abcdef/);
  assert.match(String(body["environment"]), /"SECRET":"of the bot"/);
  assert.match(String(body["environment"]), /"ENV":"production"/);
  // The instance's own routes do not exist under a session.
  for (const path of ["instance", "instance/events", "%69nstance/stop"])
    assert.equal((await instance.request("GET", `/sessions/${id}/${path}`)).status, 404);
});

test(
  "plugins, schemas of routes and all languages are there for a bot that uses them",
  { skip: !isBuilt },
  async () => {
    await using instance = spawnInstance({
      bot: `
      import { z } from "vocalhost";
      import { app } from "vocalhost/runner";
      const plugin = async (scope) => void scope.get("/plugged", async () => ({}));
      plugin[Symbol.for("plugin-meta")] = { name: "mine", fastify: "5.x" };
      app.get("/language", async () => ({ known: typeof z.locales.de().localeError }));
      app.post("/named", { schema: { body: { type: "object", required: ["name"] }, response: {
        200: { type: "object", properties: { name: { type: "string" } } },
      } } }, async ({ body }) => ({ ...body, more: true }));
      export async function bot() {}
      export async function prewarm() { if (process.env.PLUGGED) await app.register(plugin); }
    `,
      environment: { PLUGGED: "1" },
    });
    assert.deepEqual((await instance.request("GET", "/plugged")).body, {});
    assert.deepEqual((await instance.request("GET", "/language")).body, { known: "function" });
    assert.deepEqual((await instance.request("POST", "/named", { name: "x" })).body, { name: "x" });
    assert.equal((await instance.request("POST", "/named", {})).status, 400);
  },
);

const COUNTING_BOT = `
process.on("worker", () => console.log("a thread starts"));
${WAITING_BOT}
`;

for (const transport of ["websocket", "twilio", "webrtc"])
  test(`an instance that expects a ${transport} session has started its thread before it comes`, async () => {
    await using instance = spawnInstance({ bot: COUNTING_BOT, variables: { expects: transport } });
    const threads = () => instance.output().split("a thread starts").length - 1;
    await until(() => threads() === 1, 20_000, "thread");
    const { status } = await instance.start(randomUUID(), startOver(transport));
    assert.equal(status, 200);
    await until(() => instance.aliveRecord() !== undefined, 20_000, "session");
    assert.equal(threads(), 1, "and no second one with it");
  });

test("an instance that expects nothing it knows waits for its session", async () => {
  await using instance = spawnInstance({ bot: COUNTING_BOT, variables: { expects: "telepathy" } });
  const { status } = await instance.start(randomUUID(), startOver("webrtc"));
  assert.equal(status, 200);
  await until(() => instance.output().includes("a thread starts"), 20_000, "thread");
});

function startOver(transport: string): object {
  return {
    transport,
    connect: transport === "webrtc" ? { kind: transport, iceServers: [] } : { kind: "socket" },
  };
}

test("a client's WebSocket talks to the bot, and the end is on record before it is told", async () => {
  await using instance = spawnInstance({ bot: ECHO_BOT });
  const id = randomUUID();
  const events = await instance.events();
  await instance.start(id);
  await assert.rejects(instance.socket(`/ws-client/${randomUUID()}`), /403/);
  const socket = await instance.socket(`/ws-client/${id}`);
  await assert.rejects(instance.socket(`/ws-client/${id}`), /403/);
  const heard = Promise.withResolvers<void>();
  socket.on("message", (data: Buffer) => {
    if (parseFrame(data).kind === "audio") heard.resolve();
  });
  const audio = Buffer.alloc(960, 1);
  socket.send(encodeFrame({ kind: "audio", id: 0, name: "", audio, sampleRateHz: 24_000, channels: 1 }));
  await heard.promise;
  await until(() => events.seen.at(-1)?.session?.marks.firstAudio !== undefined, 20_000, "first audio");
  const closed = once(socket, "close") as Promise<[number]>;
  await instance.stop(id);
  assert.equal((await closed)[0], 1000);
  assert.equal(await instance.exited(), 0);

  const record = instance.exitRecord(id) as NonNullable<
    NonNullable<(typeof events.seen)[0]["session"]>["exit"]
  >;
  assert.equal(record.reason, "stopped");
  const { clientConnected = -1, botEntered = -1, firstAudio = -1 } = record.marks;
  assert.ok(0 < clientConnected && clientConnected <= botEntered && botEntered < firstAudio);
  assert.ok(firstAudio < record.elapsedMs);
  assert.ok(Math.abs((record.endedAtMs ?? 0) - Date.now()) < patientMs(20_000));
  const last = await until(
    () => events.seen.find(({ session }) => session?.state === "ended"),
    20_000,
    "last event",
  );
  assert.deepEqual(last.session?.exit, record);
});

test("a carrier's stream becomes the session that waits for it", async () => {
  await using instance = spawnInstance({
    bot: `
      export async function bot({ callData, transportType, body, websocket }) {
        websocket.send(JSON.stringify({ callData, transportType, body }));
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    `,
  });
  const id = randomUUID();
  await instance.start(id, { transport: "twilio", body: { hello: 1 } });
  const socket = await instance.socket(`/ws/${id}`);
  const answer = once(socket, "message") as Promise<[Buffer]>;
  socket.send(JSON.stringify({ event: "connected", protocol: "Call", version: "1.0.0" }));
  const start = { streamSid: "MZ1", accountSid: "AC1", callSid: "CA1", tracks: ["inbound"] };
  socket.send(JSON.stringify({ event: "start", sequenceNumber: "1", streamSid: "MZ1", start }));
  const seen = JSON.parse(String((await answer)[0])) as Record<string, unknown>;
  assert.equal(seen["transportType"], "twilio");
  assert.deepEqual(seen["body"], { hello: 1 });
  assert.equal((seen["callData"] as { callId: string }).callId, "CA1");
  assert.equal(await instance.exited(), 0);
  assert.equal((instance.exitRecord(id) as { reason: string }).reason, "bot-finished");
});

test("a start may carry as much as a client may send", async () => {
  await using instance = spawnInstance({ bot: WAITING_BOT });
  const body = { text: "x".repeat(limits.jsonBodyBytes - 20) };
  assert.equal((await instance.start(randomUUID(), { body })).status, 200);
});

test("a browser's offer is answered", async () => {
  await using instance = spawnInstance({ bot: WAITING_BOT });
  const id = randomUUID();
  await instance.start(id, {
    transport: "webrtc",
    connect: { kind: "webrtc", iceServers: [{ urls: "stun:127.0.0.1:9" }] },
  });
  const { status, body } = await instance.request("POST", `/sessions/${id}/api/offer`, {
    type: "offer",
    sdp: OFFER,
  });
  assert.equal(status, 200, JSON.stringify(body));
  assert.match(String(body["sdp"]), /a=fingerprint:/);
  await instance.stop(id);
  assert.equal(await instance.exited(), 0);
});

test("an instance whose bot cannot be loaded says why and exits with 1", async () => {
  for (const [bot, text] of [
    [`throw new Error("no such model");`, /no such model/],
    [`export const bot = 1;`, /exports no bot/],
    [`export function prewarm() { throw new Error("cold"); }\nexport async function bot() {}`, /cold/],
    [`import "missing-package";`, /missing-package/],
  ] as const) {
    await using instance = spawnInstance({ bot });
    assert.equal(await instance.exited(), 1);
    assert.match(instance.output(), text);
  }
});

test("a bot may say that it is not ready", async () => {
  await using instance = spawnInstance({
    bot: `
      import { app } from "vocalhost/runner";
      let ready = false;
      app.post("/ready", async () => { ready = true; return {}; });
      export const readyz = async () => ({ ready });
      export async function bot() {}
    `,
  });
  assert.equal((await instance.status()).ready, false);
  const id = randomUUID();
  assert.deepEqual([(await instance.start(id)).status, (await instance.status()).session], [503, null]);
  await instance.request("POST", "/ready", {});
  assert.equal((await instance.status()).ready, true);
  assert.equal((await instance.start(id)).status, 200);
});

for (const [answer, ready] of [
  ["undefined", false],
  ["null", false],
  ["{}", false],
  ["1", true],
] as const)
  test(`a bot whose readyz gives ${answer} is ${ready ? "" : "not "}ready, and its instance says so`, async () => {
    await using instance = spawnInstance({
      bot: `export const readyz = async () => (${answer}); export async function bot() {}`,
    });
    assert.equal((await instance.status()).ready, ready);
  });

test("the log has the level that was asked for, and no colours", async () => {
  await using quiet = spawnInstance({
    bot: WAITING_BOT,
    environment: { LOG_LEVEL: "ERROR", FORCE_COLOR: "1" },
  });
  await using usual = spawnInstance({
    bot: WAITING_BOT,
    environment: { LOG_LEVEL: "nonsense", FORCE_COLOR: "1" },
  });
  for (const instance of [quiet, usual]) {
    const id = randomUUID();
    await instance.start(id);
    await instance.stop(id);
    assert.equal(await instance.exited(), 0);
  }
  assert.equal(quiet.output(), "");
  assert.match(usual.output(), /^\d\d:\d\d:\d\d info {2}session ended session=.{8} reason=stopped/);
});
