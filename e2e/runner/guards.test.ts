import assert from "node:assert/strict";
import fc from "fast-check";
import { after, describe, test } from "node:test";
import { size } from "../../testing/sizes.ts";
import { patientMs } from "../../testing/patience.ts";
import { until } from "../../testing/wait.ts";
import { isAlive } from "../harness/process-figures.ts";
import { call, parseAnswer, rawExchange, statusOf, type Answer } from "../harness/raw-http.ts";
import { assertRefused } from "../harness/refusal.ts";
import { startRunnerProcess } from "../harness/runner-process.ts";
import { tryUpgrade } from "../harness/socket-client.ts";

const APP = "https://app.example.com";
const runner = await startRunnerProcess({ bot: "e2e/bots/probe-bot.ts", flags: ["--allowed-origins", APP] });
const { port } = runner;
after(() => runner[Symbol.asyncDispose]());

const OWN = `http://localhost:${port}`;
const SLOWEST_LOOP_MS = 500;

/** A request with exactly this header line. */
async function withHeader(line: string, host = `localhost:${port}`): Promise<Answer> {
  const hostLine = /^host:/i.test(line) ? "" : `Host: ${host}\r\n`;
  return parseAnswer(
    await rawExchange(port, Buffer.from(`GET /status HTTP/1.1\r\n${hostLine}${line}\r\n\r\n`, "latin1")),
  );
}

async function figures(): Promise<{ sessions: number; loopDelayMs: number }> {
  return (await call(port, "GET /figures")).json();
}

describe("Host", () => {
  test("our own names are answered, in any case and with any port", async () => {
    const names = ["localhost", "LOCALHOST", "127.0.0.1", "[::1]"];
    for (const name of names)
      for (const suffix of ["", `:${port}`, ":1"])
        assert.equal((await withHeader(`Host: ${name}${suffix}`)).status, 200, name + suffix);
  });

  test("other names are not", async () => {
    const names = [
      "evil.example",
      "localhost.evil.example",
      "evil.localhost",
      "localhost.",
      "127.0.0.1.evil.example",
      "127.0.0.2",
      "127.1",
      "2130706433",
      "0x7f.1",
      "0.0.0.0",
      "[::]",
      "[::ffff:127.0.0.1]",
      "::1",
      "[::1",
      "192.168.1.5",
      "user@localhost",
      "localhost@evil.example",
      "localhost/evil",
      "localhost#",
      "localhost:",
      "localhost:port",
      "localhost:123456",
      "localhost, evil.example",
      "*",
    ];
    for (const name of names) assertRefused(await withHeader(`Host: ${name}`), "HOST_NOT_ALLOWED", /--proxy/);
  });

  test("it must be there", async () => {
    assert.equal(statusOf(await rawExchange(port, "GET /status HTTP/1.1\r\n\r\n")), 400);
    assertRefused(parseAnswer(await rawExchange(port, "GET /status HTTP/1.0\r\n\r\n")), "HOST_NOT_ALLOWED");
    assertRefused(await withHeader("Host:"), "HOST_NOT_ALLOWED");
  });

  test("it is asked of every request", async () => {
    const headers = { host: "evil.example" };
    for (const line of [
      "GET /",
      "GET /client/",
      "GET /nothing",
      "GET /mirror",
      "POST /start",
      "OPTIONS /start",
      "PATCH /api/offer",
      "GET /sessions/x/mirror",
    ])
      assertRefused(await call(port, line, { headers }), "HOST_NOT_ALLOWED");
    for (const path of ["/ws-client", "/mirror-socket", "/nothing"])
      assertRefused(await tryUpgrade(`ws://localhost:${port}${path}`, headers), "HOST_NOT_ALLOWED");
  });
});

describe("Origin", () => {
  const foreign = [
    "https://evil.example",
    "null",
    "http://evil.localhost:5173",
    "http://localhost.evil.example",
    "http://0.0.0.0:5173",
    "http://192.168.1.5:5173",
    "file://",
    "ftp://localhost",
    `${OWN}/`,
    `${OWN}.evil.example`,
    "*",
  ];

  test("foreign ones are refused everywhere, with nothing for a page to read", async () => {
    for (const origin of foreign)
      for (const line of [
        "GET /status",
        "POST /start",
        "PATCH /api/offer",
        "GET /nothing",
        "GET /mirror",
        "GET /calls",
        "DELETE /mirror",
      ]) {
        const answer = await call(port, line, { headers: { origin } });
        assertRefused(answer, "ORIGIN_NOT_ALLOWED", /--allowed-origins/);
        const cors = Object.keys(answer.headers).filter((name) => name.startsWith("access-control"));
        assert.deepEqual(cors, [], origin);
      }
  });

  test("a page of another server on this machine is a client like any other, and no more", async () => {
    const origin = "http://localhost:5173";
    const started = await call(port, "POST /start", {
      headers: { origin },
      body: { transport: "websocket" },
    });
    assert.equal(started.status, 200);
    assert.equal(started.headers["access-control-allow-origin"], origin);
    const { status, client } = await tryUpgrade(started.json().wsUrl, { origin });
    client?.socket.terminate();
    assert.equal(status, 101);
    for (const line of ["GET /mirror", "GET /calls", "GET /client/", "DELETE /mirror"]) {
      const answer = await call(port, line, { headers: { origin } });
      assertRefused(answer, "ORIGIN_NOT_ALLOWED", /--allowed-origins/);
      assert.equal(answer.headers["access-control-allow-origin"], origin); // so that it can be shown
    }
    assertRefused(await tryUpgrade(`ws://localhost:${port}/mirror-socket`, { origin }), "ORIGIN_NOT_ALLOWED");
    await until(async () => (await figures()).sessions === 0, 5_000, "end of the session");
  });

  test("a foreign page opens no WebSocket, ours or the bot's own", async () => {
    for (const origin of foreign)
      for (const path of ["/ws-client", "/mirror-socket", "/status"])
        assertRefused(await tryUpgrade(`ws://localhost:${port}${path}`, { origin }), "ORIGIN_NOT_ALLOWED");
    assert.equal((await figures()).sessions, 0);
  });

  test("our own page and a listed one may open WebSockets", async () => {
    for (const origin of [OWN, APP])
      for (const path of ["/ws-client", "/mirror-socket"]) {
        const { status, client } = await tryUpgrade(`ws://localhost:${port}${path}`, { origin });
        client?.socket.terminate();
        assert.equal(status, 101, `${origin} ${path}`);
      }
  });

  test("a listed origin gets exactly itself and its preflight", async () => {
    const answer = await call(port, "POST /start", { headers: { origin: APP }, body: {} });
    assert.equal(answer.status, 200);
    assert.equal(answer.headers["access-control-allow-origin"], APP);
    assert.equal(answer.headers["access-control-allow-credentials"], undefined);
    assert.equal(answer.headers["access-control-expose-headers"], "x-vocalhost-session-id");
    assert.match(answer.headers["vary"] ?? "", /origin/i);
    for (const path of ["/start", "/api/offer", "/sessions/x/api/offer", "/mirror", "/nothing"]) {
      const headers = {
        origin: APP,
        "access-control-request-method": "PATCH",
        "access-control-request-headers": "content-type",
      };
      const preflight = await call(port, `OPTIONS ${path}`, { headers });
      assert.equal(preflight.status, 204, path);
      assert.equal(preflight.headers["access-control-allow-origin"], APP);
      assert.match(preflight.headers["access-control-allow-methods"] ?? "", /PATCH/);
      assert.match(preflight.headers["access-control-allow-headers"] ?? "", /content-type/);
      assertRefused(
        await call(port, `OPTIONS ${path}`, { headers: { ...headers, origin: "https://evil.example" } }),
        "ORIGIN_NOT_ALLOWED",
      );
    }
  });

  test("a refusal can be read by a listed page", async () => {
    const answer = await call(port, "POST /start", {
      headers: { origin: APP },
      body: { transport: "pigeon" },
    });
    assertRefused(answer, "TRANSPORT_UNKNOWN");
    assert.equal(answer.headers["access-control-allow-origin"], APP);
  });

  test("clients without one work", async () => {
    assert.equal((await call(port, "POST /start")).status, 200);
    const { status, client } = await tryUpgrade(`ws://localhost:${port}/ws-client`);
    client?.socket.terminate();
    assert.equal(status, 101);
  });
});

/** A page of this machine, on whatever port. */
function isNeighbour(origin: string): boolean {
  if (!URL.canParse(origin)) return false;
  const { origin: exact, protocol, hostname } = new URL(origin);
  return (
    exact === origin && /^https?:$/.test(protocol) && /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname)
  );
}

test("two thousand mutated values leave the runner unmoved", async () => {
  await figures();
  const ours = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/i;
  const seeds = ["localhost", `localhost:${port}`, "127.0.0.1", "[::1]", OWN, APP, "null", "evil.example"];
  const byte = fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code));
  const value = fc.oneof(
    fc.string({ unit: byte, maxLength: 60 }),
    fc
      .tuple(fc.constantFrom(...seeds), fc.nat(40), fc.nat(5), fc.string({ unit: byte, maxLength: 5 }))
      .map(([seed, at, length, text]) => seed.slice(0, at) + text + seed.slice(at + length)),
  );
  await fc.assert(
    fc.asyncProperty(fc.constantFrom("Host", "Origin"), value, async (name, text) => {
      const line = `${name}: ${text.replaceAll(/[\r\n]/g, " ")}`;
      const { status } = await withHeader(line);
      const trimmed = line.slice(name.length + 1).replaceAll(/^[ \t]+|[ \t]+$/g, "");
      const welcome =
        name === "Host" ? ours.test(trimmed) : isNeighbour(trimmed) || trimmed.toLowerCase() === APP;
      assert.ok(
        welcome ? status === 200 : status === 403 || status === 400,
        `${status} for ${JSON.stringify(line)}`,
      );
    }),
    { numRuns: size(200, 2_000), examples: [["Origin", "http://localhost:3955"]] },
  );
  assert.ok(isAlive(runner.process.pid!));
  const { loopDelayMs } = await figures();
  assert.ok(loopDelayMs < patientMs(SLOWEST_LOOP_MS), `the loop was ${loopDelayMs} ms late`);
});
