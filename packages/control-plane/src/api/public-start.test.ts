import { AppError } from "@vocalhost/protocol";
import assert from "node:assert/strict";
import { test } from "node:test";
import { startApiHarness, type ApiHarness } from "./testing/api-harness.ts";

function post(api: ApiHarness, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return api.fetch("/v1/public/parrot/start", {
    method: "POST",
    token: api.acme.publicKey,
    headers: { "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
}

test("a start is passed on and answered with exactly what clients take", async () => {
  await using api = await startApiHarness();
  const response = await post(
    api,
    { transport: "webrtc", body: { a: [1] }, enableDefaultIceServers: true },
    { "idempotency-key": "abc-1", "x-forwarded-proto": "https", "x-forwarded-host": "voice.example.com" },
  );
  assert.equal(response.status, 200);
  assert.deepEqual(Object.keys((await response.json()) as object), ["sessionId"]);
  assert.match(response.headers.get("x-vocalhost-session-id") ?? "", /^[0-9a-f-]{36}$/);
  const [request] = api.started;
  assert.equal(request?.principal.kind, "key");
  assert.deepEqual(
    { ...request, principal: null },
    {
      principal: null,
      address: "127.0.0.1",
      agentName: "parrot",
      transport: "webrtc",
      body: { a: [1] },
      enableDefaultIceServers: true,
      room: { requested: "webrtc", roomProperties: undefined, tokenProperties: undefined, token: undefined },
      dialout: undefined,
      region: { asked: null, stays: false },
      idempotencyKey: "abc-1",
      wsBase: "wss://voice.example.com",
    },
  );
});

test("a start says where it is to be, in its body or by a proxy's header, and is told where it is and why", async () => {
  await using api = await startApiHarness({
    startSession: async (request) => {
      api.started.push(request);
      const reason = "nearest;us-west=down";
      const sessionId = "0f8fad5b-d9cb-469f-a165-70867728950e";
      const answer = request.dialout ? { sessionId, status: "dialling" as const } : { sessionId };
      return { sessionId, region: { region: "eu-central", regionReason: reason }, answer };
    },
  });
  const answer = await post(api, { transport: "webrtc", region: "us-west", stayInRegion: true });
  assert.deepEqual(
    Object.keys((await answer.json()) as object),
    ["sessionId"],
    "nothing new for old clients",
  );
  assert.equal(answer.headers.get("x-vocalhost-region"), "eu-central");
  assert.equal(answer.headers.get("x-vocalhost-region-reason"), "nearest;us-west=down");
  const near = { "x-vocalhost-region": "eu-central" };
  await post(api, { transport: "webrtc" }, near);
  await post(api, { transport: "webrtc", region: "us-west" }, near);
  const call = { transport: "twilio", to: "+15550100200", region: "us-west" } as const;
  await api.client.sessions.dialOut("parrot", call);
  assert.deepEqual(
    api.started.map(({ region }) => region),
    [
      { asked: "us-west", stays: true },
      { asked: "eu-central", stays: false },
      { asked: "us-west", stays: false },
      { asked: "us-west", stays: false },
    ],
  );
  const refused = await post(api, { transport: "webrtc", region: "mars-north" });
  assert.equal(refused.status, 400);
  assert.match(
    await refused.text(),
    /Region 'mars-north' is not available. Available regions: us-west, eu-central/,
  );
});

test("a start may call somebody, with either key in its own place", async () => {
  await using api = await startApiHarness();
  const sessionId = "0f8fad5b-d9cb-469f-a165-70867728950e";
  api.onStart = async () => ({ sessionId, status: "dialling", callId: "CA1" });
  const dialout = { to: "+15550100200", machineDetection: true };
  const answer = await post(api, { transport: "twilio", body: { a: 1 }, dialout });
  assert.deepEqual(await answer.json(), { sessionId, status: "dialling", callId: "CA1" });
  const shortly = await api.fetch("/v1/agents/parrot/dialout", {
    method: "POST",
    token: api.acme.privateKey,
    headers: { "content-type": "application/json", "idempotency-key": "abc-2" },
    body: JSON.stringify({ transport: "twilio", body: { a: 1 }, ...dialout }),
  });
  assert.equal(shortly.status, 200);
  assert.deepEqual(
    api.started.map(({ principal, idempotencyKey, ...request }) => [
      principal.kind === "key" && principal.keyKind,
      idempotencyKey,
      request.transport,
      request.body,
      request.dialout,
    ]),
    [
      ["public", undefined, "twilio", { a: 1 }, dialout],
      ["private", "abc-2", "twilio", { a: 1 }, dialout],
    ],
  );
  for (const body of [{ dialout }, { transport: "webrtc", dialout }, { transport: "twilio", dialout: {} }])
    assert.ok([400, 422].includes((await post(api, body)).status), JSON.stringify(body));
});

test("what a start says of its room is passed on in all its spellings", async () => {
  await using api = await startApiHarness();
  const room = { roomUrl: "wss://a", token: "t", url: "wss://a" };
  api.onStart = async () => ({ sessionId: "0f8fad5b-d9cb-469f-a165-70867728950e", ...room });
  const properties = { max_participants: 2 };
  const answer = await post(api, { createDailyRoom: true, dailyRoomProperties: properties });
  assert.deepEqual(await answer.json(), { sessionId: "0f8fad5b-d9cb-469f-a165-70867728950e", ...room });
  await post(api, { transport: "livekit", roomProperties: properties, tokenProperties: { name: "Ann" } });
  await post(api, { room });
  const none = { roomProperties: undefined, tokenProperties: undefined, token: undefined };
  assert.deepEqual(
    api.started.map(({ transport, room: wanted }) => [transport, wanted]),
    [
      ["room", { ...none, requested: "daily", roomProperties: properties }],
      [
        "room",
        { ...none, requested: "livekit", roomProperties: properties, tokenProperties: { name: "Ann" } },
      ],
      ["room", { ...none, requested: "room", token: "t" }],
    ],
  );
});

test("sockets get an address and a token and nothing else", async () => {
  await using api = await startApiHarness();
  for (const transport of ["websocket", "twilio", "telnyx", "plivo", "exotel"]) {
    const response = await post(api, { transport, body: { x: 1 } });
    assert.deepEqual(Object.keys((await response.json()) as object), ["wsUrl", "token"]);
    assert.ok(response.headers.get("x-vocalhost-session-id"));
  }
  api.onStart = async () => ({ wsUrl: "wss://a/ws/generic/parrot.acme" });
  assert.deepEqual(await (await post(api, { transport: "websocket" })).json(), {
    wsUrl: "wss://a/ws/generic/parrot.acme",
  });
});

test("everything may be left out", async () => {
  await using api = await startApiHarness();
  for (const body of [{}, "", { transport: null, enableDefaultIceServers: null, body: null }])
    assert.equal((await post(api, body)).status, 200);
  const bare = await api.fetch("/v1/public/parrot/start", { method: "POST", token: api.acme.publicKey });
  assert.equal(bare.status, 200);
  assert.deepEqual(new Set(api.started.map(({ transport }) => transport)), new Set(["webrtc"]));
});

test("starts that are refused before anything starts", async (t) => {
  await using api = await startApiHarness();
  const large = "x".repeat(4_096);
  const cases: {
    name: string;
    body: unknown;
    headers?: Record<string, string>;
    status: number;
    code: string;
  }[] = [
    { name: "unknown transport", body: { transport: "pigeon" }, status: 400, code: "TRANSPORT_UNKNOWN" },
    {
      name: "socket body too large",
      body: { transport: "websocket", body: large },
      status: 413,
      code: "PAYLOAD_TOO_LARGE",
    },
    {
      name: "carrier body too large",
      body: { transport: "twilio", body: large },
      status: 413,
      code: "PAYLOAD_TOO_LARGE",
    },
    {
      name: "body over 1 MiB",
      body: { body: "x".repeat(1024 * 1024) },
      status: 413,
      code: "PAYLOAD_TOO_LARGE",
    },
    { name: "malformed", body: "{", status: 400, code: "GENERIC_BAD_REQUEST" },
    {
      name: "wrong type",
      body: { enableDefaultIceServers: "yes" },
      status: 400,
      code: "GENERIC_BAD_REQUEST",
    },
    { name: "list", body: [], status: 400, code: "GENERIC_BAD_REQUEST" },
    {
      name: "odd key",
      body: {},
      headers: { "idempotency-key": "a b" },
      status: 400,
      code: "GENERIC_BAD_REQUEST",
    },
    {
      name: "long key",
      body: {},
      headers: { "idempotency-key": "k".repeat(256) },
      status: 400,
      code: "GENERIC_BAD_REQUEST",
    },
    {
      name: "private key",
      body: {},
      headers: { authorization: `Bearer ${api.acme.privateKey}` },
      status: 401,
      code: "UNAUTHORIZED",
    },
    { name: "no key", body: {}, headers: { authorization: "" }, status: 401, code: "UNAUTHORIZED" },
  ];
  for (const { name, body, headers, status, code } of cases)
    await t.test(name, async () => {
      const response = await post(api, body, headers);
      const answer = (await response.json()) as { error: string; code: string; detail: unknown };
      assert.deepEqual({ status: response.status, code: answer.code }, { status, code });
      assert.ok(answer.error.length > 0 && answer.detail !== undefined);
    });
  const keyless = await api.fetch("/v1/public/parrot/start", { method: "POST" });
  assert.equal(keyless.status, 401);
  assert.equal(((await keyless.json()) as { code: string }).code, "AGENT-1002");
  assert.deepEqual(api.started, []);
});

test("a body of just the allowed size goes through", async () => {
  await using api = await startApiHarness();
  const body = "x".repeat(4_094); // and two quotes
  assert.equal((await post(api, { transport: "websocket", body })).status, 200);
  assert.equal((await post(api, { body: "x".repeat(1_000_000) })).status, 200);
});

test("refusals of a start come through with their texts", async (t) => {
  await using api = await startApiHarness();
  const cases: [Error, number, string, string][] = [
    [
      new AppError("AGENT-1001"),
      400,
      "AGENT-1001",
      "Attempt to start agent when deployment is not in ready state. Is your image pull secret valid?",
    ],
    [new AppError("NOT_FOUND", { message: "Service not found" }), 404, "NOT_FOUND", "Service not found"],
    [
      new AppError("AGENT-AT-CAPACITY"),
      429,
      "AGENT-AT-CAPACITY",
      "Rate limit exceeded. Please try again later: all instances of the agent are in use",
    ],
    [new AppError("START_TIMED_OUT"), 504, "START_TIMED_OUT", "The bot did not start in time"],
    [
      new Error("boom at secret place"),
      500,
      "INTERNAL_SERVER_ERROR",
      "Internal server error. Please check logs for more information or contact support.",
    ],
  ];
  for (const [error, status, code, text] of cases)
    await t.test(code, async () => {
      api.onStart = () => Promise.reject(error);
      const response = await post(api, {});
      assert.equal(response.status, status);
      assert.deepEqual(await response.json(), { error: text, code, detail: text });
      assert.equal(response.headers.get("retry-after"), status === 429 ? "1" : null);
    });
});

test("a key starts what it may, as often as it may", async () => {
  await using api = await startApiHarness();
  const input = { kind: "public", name: "limited", agents: ["parrot"], ratePerMinute: 2 } as const;
  const { value } = await api.apiKeys.create(api.acme.id, { ...input, agents: [...input.agents] }, "system");
  const start = (agent: string) =>
    api.fetch(`/v1/public/${agent}/start`, { method: "POST", token: value }).then(({ status }) => status);
  assert.equal(await start("other"), 404);
  assert.equal(await start("parrot"), 200);
  assert.equal(await start("parrot"), 200);
  assert.equal(await start("parrot"), 429);
});

test("somebody signed in starts from a page of ours, for a named organisation", async () => {
  await using api = await startApiHarness();
  const start = (
    session: string,
    { origin = api.origin, path = "/v1/organizations/acme/public/parrot/start" } = {},
  ) => api.fetch(path, { method: "POST", headers: { cookie: `session=${session}`, origin } });
  const owner = await api.signIn(api.acme, "owner");
  assert.equal((await start(owner)).status, 200);
  const [request] = api.started;
  assert.equal(request?.principal.kind, "user");
  assert.equal(request?.principal.organizationId, api.acme.id);
  assert.equal((await start(owner, { origin: "https://evil.example" })).status, 403);
  assert.equal((await start(owner, { path: "/v1/organizations/other/public/parrot/start" })).status, 404);
  assert.equal((await start(await api.signIn(api.acme, "viewer"))).status, 403);
  api.onStart = () => Promise.reject(new AppError("AGENT-AT-CAPACITY"));
  const full = await start(owner);
  const { detail } = (await full.json()) as { detail?: string };
  assert.match(detail ?? "", /in use/, "clients show nothing else");
});
