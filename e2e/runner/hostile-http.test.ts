import assert from "node:assert/strict";
import fc from "fast-check";
import { after, afterEach, describe, test } from "node:test";
import { patientMs } from "../../testing/patience.ts";
import { isAlive, processFigures } from "../harness/process-figures.ts";
import { call, parseAnswer, rawExchange, statusOf } from "../harness/raw-http.ts";
import { assertRefused } from "../harness/refusal.ts";
import { startRunnerProcess } from "../harness/runner-process.ts";
import { aFewAtATime } from "../../testing/wait.ts";

const runner = await startRunnerProcess({ bot: "e2e/bots/probe-bot.ts" });
const { port } = runner;
const pid = runner.process.pid!;
const HOST = `Host: localhost:${port}\r\n`;
const JSON_LINE = "Content-Type: application/json\r\n";
const SLOWEST_LOOP_MS = 500;
const GROWTH_MAX_MIB = 50;
await call(port, "GET /figures");
const { rssMib } = processFigures(pid);
after(() => runner[Symbol.asyncDispose]());

afterEach(async () => {
  assert.ok(isAlive(pid), "the runner has died");
  const { loopDelayMs, sessions } = (await call(port, "GET /figures")).json();
  assert.ok(loopDelayMs < patientMs(SLOWEST_LOOP_MS), `the loop was ${loopDelayMs} ms late`);
  assert.equal(sessions, 0, "something was started");
  const grownMib = processFigures(pid).rssMib - rssMib;
  assert.ok(grownMib < GROWTH_MAX_MIB, `the runner has grown by ${grownMib} MiB`);
});

/** A refusal in our shape, or a connection that was simply closed. */
async function refuses(request: string | Buffer, statuses: number[]): Promise<void> {
  const raw = await rawExchange(port, request);
  const shown = `${JSON.stringify(String(request).slice(0, 80))}: ${raw.slice(0, 200)}`;
  assert.ok(statuses.includes(statusOf(raw)), shown);
  if (statusOf(raw) === 0) return;
  const { error, code, detail } = parseAnswer(raw).json();
  assert.ok(error && code && detail, shown);
  assert.doesNotMatch(raw, /node_modules|\.[jt]s:\d+/, shown);
}

describe("requests that are none", () => {
  const get = (headers: string): string => `GET /status HTTP/1.1\r\n${HOST}${headers}\r\n`;
  const post = (headers: string, body: string): string =>
    `POST /start HTTP/1.1\r\n${HOST}${JSON_LINE}${headers}\r\n${body}`;
  const bad: [string, string | Buffer, number[]][] = [
    ["two lengths", post("Content-Length: 2\r\nContent-Length: 5\r\n", "{}   "), [400]],
    ["length and chunks", post("Content-Length: 2\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"), [400]],
    ["a negative length", post("Content-Length: -2\r\n", "{}"), [400]],
    ["a length with a sign", post("Content-Length: +2\r\n", "{}"), [400]],
    ["a list of lengths", post("Content-Length: 2,2\r\n", "{}"), [400]],
    ["a hexadecimal length", post("Content-Length: 0x2\r\n", "{}"), [400]],
    ["a length beyond all", post("Content-Length: 99999999999999999999\r\n", "{}"), [400, 413]],
    ["a chunk of no size", post("Transfer-Encoding: chunked\r\n", "zz\r\n{}\r\n0\r\n\r\n"), [400]],
    ["an endless chunk size", post("Transfer-Encoding: chunked\r\n", `${"f".repeat(20)}\r\n`), [400, 413]],
    ["an unknown transfer encoding", post("Transfer-Encoding: xchunked\r\n", "0\r\n\r\n"), [400, 501]],
    ["chunked not last", post("Transfer-Encoding: chunked, identity\r\n", "0\r\n\r\n"), [400]],
    ["a header of 17 KiB", get(`X: ${"x".repeat(17 * 1024)}\r\n`), [431]],
    ["two thousand headers of 20 bytes", get("X-Header-Of-Ours: 1\r\n".repeat(2_000)), [431]],
    ["a path of 17 KiB", `GET /${"x".repeat(17 * 1024)} HTTP/1.1\r\n${HOST}\r\n`, [431]],
    ["a line without an end", "x".repeat(200_000), [400, 431]],
    ["an unknown method", `FOO /status HTTP/1.1\r\n${HOST}\r\n`, [400]],
    ["a method in small letters", `get /status HTTP/1.1\r\n${HOST}\r\n`, [400]],
    ["CONNECT", `CONNECT localhost:${port} HTTP/1.1\r\n${HOST}\r\n`, [0, 400, 404, 405]],
    ["TRACE", `TRACE / HTTP/1.1\r\n${HOST}\r\n`, [404, 405]],
    ["OPTIONS *", `OPTIONS * HTTP/1.1\r\n${HOST}\r\n`, [400, 404]],
    ["HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", [0, 400]],
    ["HTTP/9.9", `GET /status HTTP/9.9\r\n${HOST}\r\n`, [400, 505]],
    ["HTTP/0.9", "GET /status\r\n\r\n", [400, 403]],
    ["TLS", Buffer.from("16030100c8010000c40303", "hex"), [400]],
    ["SSH", "SSH-2.0-OpenSSH_9.2\r\n", [400]],
    ["NUL in a header", get("X: a\u0000b\r\n"), [400]],
    ["a header without a colon", get("nonsense\r\n"), [400]],
    ["a space before the colon", get("X : 1\r\n"), [400]],
    ["a bare line feed", `GET /status HTTP/1.1\n${HOST.trim()}\n\n`, [400]],
    ["a bare carriage return", get("X: a\rb\r\n"), [400]],
    ["a broken percent sign", `GET /%zz HTTP/1.1\r\n${HOST}\r\n`, [400, 404]],
    ["half a percent sign", `GET /files/% HTTP/1.1\r\n${HOST}\r\n`, [400, 404]],
    ["percent signs that are no text", `GET /sessions/%ff%fe/x HTTP/1.1\r\n${HOST}\r\n`, [400, 404]],
    ["a very long session", `GET /sessions/${"x".repeat(5_000)}/x HTTP/1.1\r\n${HOST}\r\n`, [404, 414]],
  ];
  for (const [what, request, statuses] of bad) test(what, () => refuses(request, statuses));
});

describe("requests that are odd", () => {
  test("many small headers", async () => {
    const raw = await rawExchange(port, `GET /status HTTP/1.1\r\n${HOST}${"a: b\r\n".repeat(2_000)}\r\n`);
    assert.ok([200, 431].includes(statusOf(raw)), raw.slice(0, 100));
  });

  test("the absolute form is judged by its Host like any other", async () => {
    const absolute = (host: string) =>
      rawExchange(port, `GET http://localhost:${port}/status HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    assert.equal(statusOf(await absolute(`localhost:${port}`)), 200);
    assertRefused(parseAnswer(await absolute("evil.example")), "HOST_NOT_ALLOWED");
  });

  test("fifty at once on one connection", async () => {
    const one = `GET /status HTTP/1.1\r\n${HOST}\r\n`;
    const last = `GET /nothing HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`;
    const raw = await rawExchange(port, one.repeat(50) + last);
    assert.equal(statusOf(raw), 200);
  });

  test("half a request delays no other request", async () => {
    const halves = [
      `POST /start HTTP/1.1\r\n${HOST}${JSON_LINE}Content-Length: 100\r\n\r\n{`,
      `GET /sta`,
      `GET /status HTTP/1.1\r\nHo`,
    ];
    const waiting = halves.flatMap((half) =>
      Array.from({ length: 20 }, () => rawExchange(port, half, { atMostMs: 1_000 })),
    );
    assert.equal((await call(port, "GET /status")).status, 200);
    for (const raw of await Promise.all(waiting)) assert.equal(raw, "");
  });

  test("upgrades that lead nowhere", async () => {
    const upgrade = (lines: string, path = "/ws-client", method = "GET") =>
      `${method} ${path} HTTP/1.1\r\n${HOST}Connection: Upgrade\r\n${lines}\r\n`;
    const key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    const socket = "Upgrade: websocket\r\n";
    const tries = [
      upgrade(socket),
      upgrade(`${socket}${key}`),
      upgrade(`${socket}${key}Sec-WebSocket-Version: 99\r\n`),
      upgrade(`${socket}Sec-WebSocket-Key: short\r\nSec-WebSocket-Version: 13\r\n`),
      upgrade(`${socket}${key}Sec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: ,,\r\n`),
      upgrade(`${socket}${key}Sec-WebSocket-Version: 13\r\n`, "/ws-client", "POST"),
      upgrade(`${socket}${key}Sec-WebSocket-Version: 13\r\n`, "/start", "POST"),
      upgrade(`${socket}${key}Sec-WebSocket-Version: 13\r\n`, "/status"),
      upgrade(`${socket}${key}Sec-WebSocket-Version: 13\r\n`, "/nothing"),
      upgrade(`Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n`, "/ws-client"),
      upgrade(`Upgrade: websocket, h2c\r\n`, "/ws-client"),
    ];
    for (const request of tries) {
      const status = statusOf(await rawExchange(port, request));
      assert.ok(status >= 400 && status < 500, `${status} for ${request}`);
    }
  });

  test("five hundred mutations of a good one", async () => {
    const good = `POST /mirror?a=1 HTTP/1.1\r\n${HOST}${JSON_LINE}Content-Length: 13\r\nConnection: close\r\n\r\n{"hello":"x"}`;
    const edit = fc.tuple(fc.nat(good.length), fc.nat(10), fc.uint8Array({ maxLength: 8 }));
    const requests = fc
      .sample(fc.array(edit, { minLength: 1, maxLength: 3 }), 500)
      .map((edits) =>
        edits.reduce(
          (bytes, [at, length, put]) =>
            Buffer.concat([bytes.subarray(0, at), put, bytes.subarray(at + length)]),
          Buffer.from(good),
        ),
      );
    await aFewAtATime(requests, async (request) => {
      const raw = await rawExchange(port, request, { atMostMs: 300 });
      assert.ok(
        statusOf(raw) < 500,
        `${raw.slice(0, 200)} for ${JSON.stringify(request.toString("latin1"))}`,
      );
    });
  });
});
