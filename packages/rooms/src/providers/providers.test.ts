import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { decodeJwt } from "jose";
import { RoomServiceClient } from "livekit-server-sdk";
import type { RoomServer } from "../room-server.ts";
import { startRoomServer } from "../room-server.ts";
import type { Log } from "../log.ts";
import { signToken } from "../tokens.ts";
import { startDailyServer, type DailyServer } from "../testing/daily-server.ts";
import { providerContract, refusedAs, type ProviderUnderTest } from "../testing/provider-contract.ts";
import { readProvidersConfig } from "./config.ts";
import { createDailyRooms, type DailyRooms } from "./daily.ts";
import { createEmbeddedRooms, type EmbeddedRooms } from "./embedded.ts";
import { joinSessionRoom } from "./join-room.ts";
import { createLiveKitRooms } from "./livekit.ts";
import { createOwnServerRooms } from "./own-server.ts";
import { createRoomProviders } from "./room-providers.ts";
import { makeSessionRoom, roomAnswer } from "./session-room.ts";

const key = { apiKey: "testkey", apiSecret: "a secret of thirty-two characters" };
const logged: string[] = [];
const log: Log = {
  debug: (fields, message) => void logged.push(JSON.stringify([fields, message])),
  info: (fields, message) => void logged.push(JSON.stringify([fields, message])),
  warn: (fields, message) => void logged.push(JSON.stringify([fields, message])),
  error: (fields, message) => void logged.push(JSON.stringify([fields, message])),
  child: () => log,
};

let embedded: EmbeddedRooms;
let server: RoomServer;
let dailyServer: DailyServer;
let daily: DailyRooms;

before(async () => {
  const options = { ...key, listen: { port: 0 }, media: { udpPort: 0 } };
  embedded = createEmbeddedRooms({ server: options });
  server = await startRoomServer(options); // a LiveKit server, as far as the server SDK can tell
  dailyServer = await startDailyServer();
  const { apiKey, url: apiUrl } = dailyServer;
  daily = createDailyRooms({ apiKey, apiUrl }, { log, backoffMs: 1 });
});

after(async () => {
  await embedded[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
  await dailyServer[Symbol.asyncDispose]();
});

providerContract("embedded", () => ({ provider: embedded, tryToken: tryLiveKitToken, exists: hasRoom }));
// A LiveKit server where one is named; else ours, which the server SDK cannot tell from one.
providerContract("livekit", () => {
  const config = readProvidersConfig().livekit ?? { url: server.url ?? "", ...key };
  const service = new RoomServiceClient(config.url.replace(/^ws/, "http"), config.apiKey, config.apiSecret);
  return {
    provider: createLiveKitRooms(config),
    tryToken: tryLiveKitToken,
    exists: async (name) => (await service.listRooms([name])).length === 1,
  };
});
providerContract("daily", () => ({
  provider: daily,
  async tryToken(_url, token) {
    const answer = await fetch(`${dailyServer.url}/meeting-tokens/${token}`, {
      headers: { authorization: `Bearer ${dailyServer.apiKey}` },
    });
    const said = (await answer.json()) as { room_name?: string; is_owner?: boolean };
    return { opens: said.room_name, isOwner: said.is_owner === true };
  },
  exists: async (name) => dailyServer.rooms.has(name),
}));

const tryLiveKitToken: ProviderUnderTest["tryToken"] = async (url, token) => {
  const answer = await fetch(`${url.replace(/^ws/, "http")}/rtc/validate?access_token=${token}`);
  if (!answer.ok) return { opens: undefined, isOwner: false };
  const { room, roomAdmin } = decodeJwt(token)["video"] as { room: string; roomAdmin?: boolean };
  return { opens: room, isOwner: roomAdmin === true };
};

async function hasRoom(name: string): Promise<boolean> {
  const providerUrl = (await embedded.createRoom({ prefix: "look" })).botUrl.replace(/^ws/, "http");
  const rooms = await new RoomServiceClient(providerUrl, key.apiKey, key.apiSecret).listRooms([name]);
  return rooms.length === 1;
}

test("embedded: a client is sent where it found us, a bot the near way", async () => {
  const room = await embedded.createRoom({ prefix: "parrot", reachedAs: "wss://bots.example.com" });
  assert.equal(room.url, "wss://bots.example.com");
  assert.match(room.botUrl, /^ws:\/\/127\.0\.0\.1:\d+$/);
  const call = { prefix: "parrot", sip: { displayName: "+1555" } };
  await assert.rejects(embedded.createRoom(call), refusedAs("TRANSPORT_DISABLED", /takes no phone calls/));
});

test("embedded: a full server says what to use instead", async () => {
  await using small = createEmbeddedRooms({
    server: { ...key, listen: { port: 0 }, media: { udpPort: 0 }, limits: { rooms: 1 } },
  });
  await small.createRoom({ prefix: "first" });
  await assert.rejects(small.createRoom({ prefix: "second" }), refusedAs("ROOMS_UNAVAILABLE", /LIVEKIT_URL/));
});

test("the same mark means the same room, wherever it is", async () => {
  for (const provider of [embedded, createLiveKitRooms({ url: server.url ?? "", ...key }), daily]) {
    const first = await provider.createRoom({ prefix: "again", mark: "0123" });
    const second = await provider.createRoom({ prefix: "again", mark: "0123" });
    assert.equal(first.name, "again-0123");
    assert.deepEqual(second, first);
  }
});

test("our own server in another process is spoken to as a LiveKit server is", async () => {
  const own = createOwnServerRooms({ ...key, open: async () => server.url ?? "" });
  const room = await own.createRoom({ prefix: "parrot", reachedAs: "wss://bots.example.com" });
  assert.deepEqual([own.name, room.url, room.botUrl], ["embedded", "wss://bots.example.com", server.url]);
  const token = await own.issueToken({ room: room.name, identity: "a", isBot: false });
  assert.equal((await tryLiveKitToken(room.botUrl, token)).opens, room.name);
  await own.deleteRoom(room.name);
  const dead = createOwnServerRooms({ ...key, open: () => Promise.reject(new Error("it broke")) });
  await assert.rejects(dead.createRoom({ prefix: "a" }), refusedAs("ROOMS_UNAVAILABLE", /does not run/));
});

test("livekit: what is wrong with the settings is said, without the secret", async () => {
  const wrong = createLiveKitRooms({ url: server.url ?? "", apiKey: key.apiKey, apiSecret: "x".repeat(32) });
  await assert.rejects(wrong.createRoom({ prefix: "a" }), refusedAs("ROOM_REFUSED", /LIVEKIT_API_SECRET/));
  const nobody = createLiveKitRooms({ url: "ws://127.0.0.1:1", ...key });
  await assert.rejects(nobody.createRoom({ prefix: "a" }), refusedAs("ROOMS_UNAVAILABLE", /LIVEKIT_URL/));
  const fixed = createLiveKitRooms({ url: server.url ?? "", ...key, roomName: "lobby" });
  assert.equal((await fixed.createRoom({ prefix: "a" })).name, "lobby");
  await fixed.deleteRoom("lobby");
  assert.ok(
    server.listRooms().some(({ name }) => name === "lobby"),
    "a room for all is nobody's to delete",
  );
});

test("daily: a room ends by itself, and what the caller wants is added", async () => {
  const nowS = Date.now() / 1000;
  const { name } = await daily.createRoom({
    prefix: "parrot",
    properties: { max_participants: 3, eject_at_room_exp: false },
  });
  const config = dailyServer.rooms.get(name)?.config ?? {};
  assert.ok(Math.abs(Number(config["exp"]) - nowS - 4 * 3600) < 60);
  assert.equal(config["max_participants"], 3);
  assert.equal(config["eject_at_room_exp"], false);
  assert.equal(config["enable_prejoin_ui"], false);
  for (const exp of [Date.now() + 3_600_000, nowS + 9 * 86_400])
    await assert.rejects(
      daily.createRoom({ prefix: "parrot", properties: { exp: Math.round(exp) } }),
      refusedAs("INVALID_REQUEST", /exp/),
    );
});

test("daily: what a caller says of room, owner and expiry of a token counts for nothing", async () => {
  const properties = { room_name: "", is_owner: true, exp: 9_999_999_999, user_name: "Ann" };
  const token = await daily.issueToken({ room: "parrot-1", identity: "User-1", isBot: false, properties });
  const { r, o, u, exp } = decodeJwt(token);
  assert.deepEqual({ r, o, u }, { r: "parrot-1", o: false, u: "Ann" });
  assert.ok(Number(exp) < Date.now() / 1000 + 2 * 3600 + 60);
});

test("daily: a room for a phone call has a SIP address, and the call can be sent there", async () => {
  const room = await daily.createRoom({ prefix: "parrot", sip: { displayName: "+15557770000" } });
  assert.match(room.name, /^parrot-telephony-[0-9a-f]{32}$/);
  assert.match(room.sipUri ?? "", /^sip:[^@]+@example\.sip\.daily\.co$/);
  const { sip, start_video_off } = dailyServer.rooms.get(room.name)?.config ?? {};
  assert.equal(start_video_off, true);
  assert.deepEqual(sip, {
    display_name: "+15557770000",
    video: false,
    sip_mode: "dial-in",
    num_endpoints: 1,
  });
  const call = { callId: "c", callDomain: "d", sipUri: room.sipUri ?? "" };
  await assert.rejects(daily.forwardCall(call), refusedAs("ROOM_REFUSED", /not registered/));
  assert.equal(dailyServer.setReady(room.name), room.sipUri);
  await daily.forwardCall(call);
  assert.deepEqual(dailyServer.requests.at(-1)?.body, { callId: "c", callDomain: "d", sipUri: room.sipUri });
});

test("daily: one room for all is used as it is, but not for a phone call", async () => {
  const { apiKey, url: apiUrl } = dailyServer;
  const fixed = createDailyRooms({ apiKey, apiUrl, roomUrl: "https://example.daily.co/lobby" }, { log });
  const before = dailyServer.requests.length;
  const room = await fixed.createRoom({ prefix: "parrot" });
  assert.deepEqual(room, {
    name: "lobby",
    url: "https://example.daily.co/lobby",
    botUrl: "https://example.daily.co/lobby",
  });
  await fixed.deleteRoom("lobby");
  assert.equal(dailyServer.requests.length, before);
  assert.match((await fixed.createRoom({ prefix: "p", sip: { displayName: "x" } })).name, /^p-telephony-/);
});

test("daily: asks again when that may help, and no more than that", async () => {
  dailyServer.refuseNext(3, { status: 429, error: "rate-limit-error" });
  assert.match((await daily.createRoom({ prefix: "parrot" })).name, /^parrot-/);
  dailyServer.refuseNext(1, { status: 503, error: "server-error" });
  assert.match((await daily.createRoom({ prefix: "parrot" })).name, /^parrot-/);
  dailyServer.refuseNext(1, { status: 429, error: "rate-limit-error", retryAfter: "0" });
  assert.match((await daily.createRoom({ prefix: "parrot" })).name, /^parrot-/);
  dailyServer.refuseNext(5, { status: 429, error: "rate-limit-error" });
  await assert.rejects(daily.createRoom({ prefix: "parrot" }), refusedAs("ROOMS_UNAVAILABLE", /rate limit/));
  dailyServer.refuseNext(1, { status: 403, error: "forbidden-error", info: "no dial-out" });
  await assert.rejects(daily.createRoom({ prefix: "parrot" }), refusedAs("ROOM_REFUSED", /no dial-out/));
  dailyServer.refuseNext(1, { status: 400, error: "invalid-request-error", info: "no such region" });
  await assert.rejects(daily.createRoom({ prefix: "parrot" }), refusedAs("ROOM_REFUSED", /no such region/));
});

test("daily: a key that is refused, repeated back or sent nowhere is in no message and no log", async () => {
  const secretKey = "daily-key-that-nobody-may-see";
  const { url: apiUrl } = dailyServer;
  const wrong = createDailyRooms({ apiKey: secretKey, apiUrl }, { log, backoffMs: 1 });
  const nobody = createDailyRooms({ apiKey: secretKey, apiUrl: "http://127.0.0.1:1/v1" }, { log });
  const said = [
    await wrong.createRoom({ prefix: "a" }).catch((error: unknown) => error),
    await nobody.createRoom({ prefix: "a" }).catch((error: unknown) => error),
  ].map((error) => `${String(error)} ${JSON.stringify(error)} ${String((error as Error).cause)}`);
  assert.match(said[0] ?? "", /Check DAILY_API_KEY/);
  assert.match(said[1] ?? "", /cannot be reached/);
  dailyServer.refuseNext(1, { status: 429, error: "rate-limit-error", info: dailyServer.apiKey });
  await daily.createRoom({ prefix: "a" });
  for (const text of [...said, ...logged]) {
    assert.ok(!text.includes(secretKey), text);
    assert.ok(!text.includes(dailyServer.apiKey), text);
  }
  assert.ok(logged.length > 0);
});

test("one more bot comes into a room with the token of somebody who may be there, and owns nothing", async () => {
  const livekitKey = { apiKey: "other", apiSecret: "another secret of thirty-two chars" };
  const config = readProvidersConfig({
    LIVEKIT_URL: "wss://lk.example.com",
    LIVEKIT_API_KEY: livekitKey.apiKey,
    LIVEKIT_API_SECRET: livekitKey.apiSecret,
  });
  const providers = createRoomProviders(config, { embedded, log });
  const theirs = await signToken(
    { identity: "User-1", video: { roomJoin: true, room: "lobby" } },
    livekitKey,
  );
  const wanted = { people: "2", reachedAs: "wss://bots.example.com" };
  const ours = await embedded.createRoom({ prefix: "parrot" });
  const mine = await embedded.issueToken({ room: ours.name, identity: "User-1", isBot: false });
  for (const [token, provider, roomName] of [
    [theirs, "livekit", "lobby"],
    [mine, "embedded", ours.name],
  ] as const) {
    const second = await joinSessionRoom(providers, { ...wanted, token });
    assert.deepEqual([second.provider, second.roomName, second.isGuest], [provider, roomName, true]);
    assert.deepEqual([second.clientToken, second.guestTokens], [token, []]);
    const { sub, kind, video } = decodeJwt(second.botToken);
    assert.deepEqual([sub, kind], ["Bot-2", "agent"]);
    assert.equal((video as { roomAdmin?: boolean }).roomAdmin, false);
  }
  const listener = { roomJoin: true, room: ours.name, canPublish: false };
  const rights = {
    "that only lets listen": await signToken({ identity: "a", video: listener }, key),
    "for the service": await signToken({ identity: "a", video: { roomCreate: true } }, key),
    "that has expired": await signToken(
      { identity: "a", video: { roomJoin: true, room: ours.name }, validForS: -600 },
      key,
    ),
    "of a stranger": await signToken(
      { identity: "a", video: { roomJoin: true, room: ours.name } },
      { apiKey: "testkey", apiSecret: "x".repeat(32) },
    ),
  };
  for (const [what, token] of Object.entries(rights))
    await assert.rejects(
      joinSessionRoom(providers, { ...wanted, token }),
      refusedAs("ACCESS_DENIED", /lets nobody hear and speak/),
      `a token ${what}`,
    );
  const changed = { ...wanted, token: mine, roomProperties: { maxParticipants: 9 } };
  await assert.rejects(joinSessionRoom(providers, changed), refusedAs("INVALID_REQUEST", /there already/));
});

test("livekit: a bot may call somebody into its own room where there is a trunk, and nobody else may", async () => {
  const url = server.url ?? "";
  const grants = async (trunk: string | undefined, who: { isBot: boolean; isGuest?: boolean }) => {
    const provider = createLiveKitRooms({ url, ...key, sipTrunk: trunk });
    return decodeJwt(await provider.issueToken({ room: "r", identity: "a", ...who }))["sip"];
  };
  assert.deepEqual(await grants("ST_1", { isBot: true }), { call: true });
  assert.equal(await grants("ST_1", { isBot: true, isGuest: true }), undefined);
  assert.equal(await grants("ST_1", { isBot: false }), undefined);
  assert.equal(await grants(undefined, { isBot: true }), undefined);
});

test("the name a client asks by chooses the provider", async () => {
  const none = createRoomProviders(readProvidersConfig({}), { embedded, log });
  assert.equal(none.of("room").name, "embedded");
  assert.equal(none.of("livekit").name, "embedded");
  assert.throws(() => none.of("daily"), refusedAs("TRANSPORT_DISABLED", /DAILY_API_KEY/));
  const LIVEKIT = { LIVEKIT_URL: "https://lk.example.com/", LIVEKIT_API_KEY: "k", LIVEKIT_API_SECRET: "s" };
  const both = createRoomProviders(readProvidersConfig({ ...LIVEKIT, DAILY_API_KEY: "d" }), {
    embedded,
    log,
  });
  assert.deepEqual(
    ["room", "livekit", "daily"].map((name) => both.of(name).name),
    ["livekit", "livekit", "daily"],
  );
  assert.equal(readProvidersConfig(LIVEKIT).livekit?.url, "wss://lk.example.com");
  assert.equal(
    readProvidersConfig({ ...LIVEKIT, VOCALHOST_ROOM_PROVIDER: "embedded" }).preferred,
    "embedded",
  );
});

test("settings that do not fit together are refused by name", () => {
  const cases: [Record<string, string>, RegExp][] = [
    [{ VOCALHOST_ROOM_PROVIDER: "zoom" }, /VOCALHOST_ROOM_PROVIDER must be one of/],
    [{ VOCALHOST_ROOM_PROVIDER: "daily" }, /set DAILY_API_KEY/],
    [{ VOCALHOST_ROOM_PROVIDER: "livekit" }, /set LIVEKIT_URL/],
    [{ LIVEKIT_URL: "wss://lk.example.com" }, /needs LIVEKIT_API_KEY/],
    [{ LIVEKIT_URL: "lk.example.com", LIVEKIT_API_KEY: "k", LIVEKIT_API_SECRET: "s" }, /LIVEKIT_URL must be/],
    [{ DAILY_API_KEY: "k", DAILY_API_URL: "ftp://x" }, /DAILY_API_URL must be/],
    [{ DAILY_API_KEY: "k", DAILY_ROOM_URL: "https://you.daily.co" }, /DAILY_ROOM_URL must be/],
  ];
  for (const [environment, message] of cases) assert.throws(() => readProvidersConfig(environment), message);
});

test("a session's room lets in the bot, the client and a few more, and is gone when a token cannot be had", async () => {
  const { apiKey, url: apiUrl } = dailyServer;
  const config = readProvidersConfig({ DAILY_API_KEY: apiKey, DAILY_API_URL: apiUrl });
  const providers = createRoomProviders(config, { embedded, log });
  const sessionId = "0f8fad5b-d9cb-469f-a165-70867728950e";
  const room = await makeSessionRoom(providers, { requested: "room", people: "0f8fad5b", prefix: "parrot" });
  const identities = [room.botToken, room.clientToken, ...room.guestTokens].map(
    (token) => decodeJwt(token).sub,
  );
  assert.equal(new Set(identities).size, 10);
  assert.deepEqual(identities.slice(0, 2), ["Bot-0f8fad5b", "User-0f8fad5b"]);
  assert.deepEqual(roomAnswer(room, sessionId), {
    sessionId,
    roomUrl: room.roomUrl,
    token: room.clientToken,
    url: room.roomUrl,
  });
  await room.close();
  assert.equal(await hasRoom(room.roomName), false);

  const atDaily = await makeSessionRoom(providers, { requested: "daily", prefix: "parrot" });
  const { dailyRoom, dailyToken } = roomAnswer(atDaily, sessionId);
  assert.deepEqual([dailyRoom, dailyToken], [atDaily.roomUrl, atDaily.clientToken]);
  await atDaily.close();
  const before = dailyServer.rooms.size;
  const wanted = { requested: "daily", prefix: "parrot", tokenProperties: { colour: "red" } };
  await assert.rejects(makeSessionRoom(providers, wanted), refusedAs("INVALID_REQUEST", /colour/));
  assert.equal(dailyServer.rooms.size, before);
});
