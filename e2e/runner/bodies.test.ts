import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { after, describe, test } from "node:test";
import { call, JSON_TYPE, parseAnswer, rawExchange, type Answer } from "../harness/raw-http.ts";
import { assertRefused } from "../harness/refusal.ts";
import { startRunnerProcess } from "../harness/runner-process.ts";
import { openSocket } from "../harness/socket-client.ts";
import { until } from "../../testing/wait.ts";

const runner = await startRunnerProcess({ bot: "e2e/bots/probe-bot.ts" });
const { port } = runner;
after(() => runner[Symbol.asyncDispose]());

/** Sends this content type to the letter. */
async function withType(type: string, method = "POST", path = "/start"): Promise<Answer> {
  const head = `${method} ${path} HTTP/1.1\r\nHost: localhost:${port}\r\nContent-Length: 2\r\nContent-Type:${type}\r\n\r\n{}`;
  return parseAnswer(await rawExchange(port, Buffer.from(head, "latin1")));
}

describe("content types", () => {
  test("JSON, with or without parameters", async () => {
    for (const type of [
      " application/json",
      "application/json",
      "\tApplication/JSON ",
      " application/json;charset=utf-8",
      " application/json ; charset=utf-8",
      " application/json;",
    ])
      assert.equal((await withType(type)).status, 200, type);
  });

  test("nothing a page may send without asking, and nothing that looks alike", async () => {
    const types = [
      " text/plain",
      " text/plain;application/json",
      " text/plain, application/json",
      " application/json, text/plain",
      " application/x-www-form-urlencoded",
      " multipart/form-data; boundary=x",
      " application/json\tx",
      " application/json x",
      " application/json/",
      " application/jsonp",
      " application/json+x",
      " application/problem+json",
      " text/json",
      " application /json",
      " \xa0application/json",
      " application/json\xa0",
      " json",
      "",
      " */*",
    ];
    for (const type of types)
      for (const [method, path] of [
        ["POST", "/start"],
        ["POST", "/api/offer"],
        ["PUT", "/mirror"],
        ["DELETE", "/mirror"],
        ["POST", "/nothing"],
      ])
        assertRefused(await withType(type, method, path), "UNSUPPORTED_MEDIA_TYPE");
  });

  test("a body without a type", async () => {
    const raw = `POST /start HTTP/1.1\r\nHost: localhost:${port}\r\nContent-Length: 2\r\n\r\n{}`;
    assertRefused(parseAnswer(await rawExchange(port, raw)), "UNSUPPORTED_MEDIA_TYPE");
  });

  test("nothing is unpacked", async () => {
    const bomb = gzipSync(Buffer.alloc(10 * 1024 * 1024)).toString("latin1");
    for (const encoding of ["gzip", "deflate", "br", "zstd", "gzip, identity", "x-unknown"])
      assertRefused(
        await call(port, "POST /start", {
          body: bomb,
          headers: { ...JSON_TYPE, "content-encoding": encoding },
        }),
        "UNSUPPORTED_MEDIA_TYPE",
      );
    const plain = await call(port, "POST /start", { body: {}, headers: { "content-encoding": "identity" } });
    assert.equal(plain.status, 200);
  });
});

describe("size and depth", () => {
  test("a body beyond 1 MiB is refused, said or unsaid", async () => {
    const body = JSON.stringify({ body: "x".repeat(1024 * 1024) });
    assertRefused(await call(port, "POST /start", { body, headers: JSON_TYPE }), "PAYLOAD_TOO_LARGE");
    const head = `POST /start HTTP/1.1\r\nHost: localhost:${port}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`;
    const chunked = `${head}${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
    assertRefused(parseAnswer(await rawExchange(port, chunked)), "PAYLOAD_TOO_LARGE");
  });

  test("nesting beyond 64 is refused before it is parsed", async () => {
    const nested = (depth: number, open = "[", close = "]") => open.repeat(depth) + close.repeat(depth);
    const offer = (body: string) => call(port, "POST /mirror", { body, headers: JSON_TYPE });
    assert.equal((await offer(nested(64))).status, 200);
    for (const body of [
      nested(65),
      nested(500_000),
      "[".repeat(1_000_000),
      `${'{"a":'.repeat(65)}1${"}".repeat(65)}`,
    ])
      assertRefused(await offer(body), "BODY_TOO_DEEP");
    assert.equal((await offer(JSON.stringify("[".repeat(1_000)))).status, 200);
    assert.equal((await offer(JSON.stringify('\\"[['.repeat(100)))).status, 200);
  });

  test("keys that reach for prototypes arrive nowhere", async () => {
    const body =
      '{"transport":"websocket","__proto__":{"polluted":1},"body":{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"a":1}}';
    const answer = await call(port, "POST /start", { body, headers: JSON_TYPE });
    using client = await openSocket(answer.json().wsUrl);
    const [made] = await until(
      async () => {
        const calls = (await call(port, "GET /calls")).json();
        return calls.length > 0 && calls;
      },
      15_000,
      "call of the bot",
    );
    assert.deepEqual(made.body, { constructor: { prototype: { polluted: 1 } }, a: 1 });
    assert.doesNotMatch((await call(port, "GET /mirror")).body, /polluted/);
    assert.ok(client);
  });
});
