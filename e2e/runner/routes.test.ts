import assert from "node:assert/strict";
import { transportNames } from "@vocalhost/protocol";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { call } from "../harness/raw-http.ts";
import { assertRefused } from "../harness/refusal.ts";
import { startRunnerProcess } from "../harness/runner-process.ts";

const folder = mkdtempSync(join(tmpdir(), "vocalhost-files-"));
writeFileSync(join(folder, "hello.txt"), "hello\n");
writeFileSync(join(folder, '100% "odd" ü.wav'), "RIFF");
const runner = await startRunnerProcess({ bot: "e2e/bots/probe-bot.ts", flags: ["--folder", folder] });
const { port } = runner;
after(async () => {
  await runner[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

const STUN = { iceServers: [{ urls: ["stun:stun.l.google.com:19302"] }] };

describe("pages and status", () => {
  for (const path of ["/", "/client"])
    test(`${path} leads to the page`, async () => {
      const answer = await call(port, `GET ${path}`);
      assert.equal(answer.status, 307);
      assert.equal(answer.headers["location"], "/client/");
    });

  test("/client/ is served, or says that it is not built", async () => {
    const answer = await call(port, "GET /client/");
    if (answer.status === 200)
      assert.match(answer.headers["content-security-policy"] ?? "", /default-src '(?:self|none)'/);
    else assert.match(answer.body, /not built/);
  });

  test("/status lists what /start accepts", async () => {
    const answer = await call(port, "GET /status");
    assert.equal(answer.status, 200);
    assert.deepEqual(answer.json(), { status: "ready", transports: [...transportNames] });
    for (const transport of answer.json().transports)
      assert.equal((await call(port, "POST /start", { body: { transport } })).status, 200, transport);
  });

  test("every answer forbids sniffing", async () => {
    for (const line of ["GET /status", "GET /nothing", "POST /start"])
      assert.equal((await call(port, line)).headers["x-content-type-options"], "nosniff", line);
  });

  test("what is not there is refused in the common shape", async () => {
    for (const line of ["GET /nothing", "GET /start", "DELETE /start", "PUT /api/offer", "GET /rooms"])
      assertRefused(await call(port, line), "NOT_FOUND");
  });
});

describe("POST /start for webrtc", () => {
  const good: [string, unknown, object?][] = [
    ["no body", undefined],
    ["an empty object", {}],
    ["the transport by name", { transport: "webrtc" }],
    ["no transport", { transport: null }],
    ["body null", { body: null }],
    ["no default ICE servers", { enableDefaultIceServers: false }],
    ["default ICE servers", { enableDefaultIceServers: true }, STUN],
    [
      "the prebuilt page's options",
      { createDailyRoom: false, enableDefaultIceServers: true, transport: "webrtc" },
      STUN,
    ],
  ];
  for (const [what, body, iceConfig] of good)
    test(what, async () => {
      const answer = await call(port, "POST /start", { body });
      assert.equal(answer.status, 200);
      const { sessionId, ...rest } = answer.json();
      assert.match(sessionId, /^[0-9a-f-]{36}$/);
      assert.deepEqual(rest, iceConfig ? { iceConfig } : {});
      assert.equal(answer.headers["x-vocalhost-session-id"], sessionId);
    });

  test("a body that is not JSON counts as none", async () => {
    for (const body of ["", "{", "nonsense", '{"transport":"webso']) {
      const answer = await call(port, "POST /start", {
        body,
        headers: { "content-type": "application/json" },
      });
      assert.equal(answer.status, 200, body);
      assert.deepEqual(Object.keys(answer.json()), ["sessionId"]);
    }
  });

  test("fields of the wrong type are named", async () => {
    const answer = await call(port, "POST /start", {
      body: { transport: 5, enableDefaultIceServers: "yes" },
    });
    assertRefused(answer, "INVALID_REQUEST");
    const loc = answer.json().detail.map((problem: { loc: string[] }) => problem.loc.join("."));
    assert.deepEqual(loc, ["body.transport", "body.enableDefaultIceServers"]);
  });
});

describe("POST /start for websocket", () => {
  test("gives the address and nothing released clients refuse", async () => {
    const answer = await call(port, "POST /start", { body: { transport: "websocket", body: { a: 1 } } });
    assert.equal(answer.status, 200);
    const { wsUrl, ...rest } = answer.json();
    assert.deepEqual(rest, {});
    const url = new URL(wsUrl);
    assert.equal(url.host, `localhost:${port}`);
    assert.equal(url.protocol, "ws:");
    assert.equal(url.pathname, "/ws-client");
    assert.equal(url.searchParams.get("session"), answer.headers["x-vocalhost-session-id"]);
  });

  test("the address follows the name and the scheme the client used", async () => {
    const body = { transport: "websocket" };
    const by = async (headers: Record<string, string>): Promise<string> =>
      new URL((await call(port, "POST /start", { body, headers })).json().wsUrl).origin;
    assert.equal(await by({ host: `127.0.0.1:${port}` }), `ws://127.0.0.1:${port}`);
    assert.equal(await by({ host: `[::1]:${port}` }), `ws://[::1]:${port}`);
    assert.equal(await by({ "x-forwarded-proto": "https" }), `wss://localhost:${port}`);
    assert.equal(await by({ "x-forwarded-proto": "https, http" }), `wss://localhost:${port}`);
    assert.equal(await by({ "x-forwarded-proto": "http" }), `ws://localhost:${port}`);
  });

  test("a body too large for a hosted address is refused here too", async () => {
    const start = (length: number) =>
      call(port, "POST /start", { body: { transport: "websocket", body: "x".repeat(length) } });
    assert.equal((await start(4094)).status, 200);
    assertRefused(await start(4095), "PAYLOAD_TOO_LARGE", /4096/);
  });
});

describe("POST /start refusals", () => {
  test("an unknown transport", async () => {
    const answer = await call(port, "POST /start", { body: { transport: "pigeon" } });
    assertRefused(answer, "TRANSPORT_UNKNOWN", "Unknown transport 'pigeon'.");
  });

  test("a transport that is not set up", async () => {
    for (const body of [{ transport: "daily" }, { createDailyRoom: true }])
      assertRefused(
        await call(port, "POST /start", { body }),
        "TRANSPORT_DISABLED",
        "Transport 'daily' needs an account at Daily: set DAILY_API_KEY, or ask for transport 'room' to get a room of this server.",
      );
  });

  test("names every object has are no transports", async () => {
    for (const transport of ["constructor", "__proto__", "toString", ""])
      assertRefused(await call(port, "POST /start", { body: { transport } }), "TRANSPORT_UNKNOWN");
  });
});

describe("GET /files", () => {
  test("a file is a download", async () => {
    const answer = await call(port, "GET /files/hello.txt");
    assert.equal(answer.status, 200);
    assert.equal(answer.body, "hello\n");
    assert.equal(answer.headers["content-disposition"], 'attachment; filename="hello.txt"');
    assert.match(answer.headers["content-type"] ?? "", /^text\/plain/);
  });

  test("a file with an odd name", async () => {
    const answer = await call(port, `GET /files/${encodeURIComponent('100% "odd" ü.wav')}`);
    assert.equal(answer.status, 200);
    assert.equal(answer.body, "RIFF");
    assert.equal(answer.headers["content-disposition"], 'attachment; filename="100% _odd_ _.wav"');
  });

  test("what is not a file is not found", async () => {
    for (const path of ["/files/absent.txt", "/files/"])
      assertRefused(await call(port, `GET ${path}`), "NOT_FOUND");
  });
});
