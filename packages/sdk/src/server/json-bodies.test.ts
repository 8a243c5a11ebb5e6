import { limits } from "@vocalhost/protocol";
import assert from "node:assert/strict";
import { test } from "node:test";
import Fastify from "fastify";
import { createCollectedLog } from "../testing/collected-log.ts";
import { installErrorReplies } from "./error-replies.ts";
import { installJsonBodies } from "./session-app.ts";

const JSON_TYPE = "application/json";

test("a route gets the JSON it was sent", async () => {
  await check({ body: '{"a":[1,null,"x"]}', got: { a: [1, null, "x"] } });
  await check({ body: '"text"', got: "text" });
  await check({ body: "null", got: null });
  await check({ body: "", got: "nothing" });
  await check({ body: " \n ", got: "nothing" });
  await check({ body: "{}", type: "application/json; charset=utf-8", got: {} });
});

test("what is not JSON is refused, except where a body does not matter", async () => {
  for (const body of ["{", "{'a':1}", "undefined", "<xml/>"]) {
    await check({ body, refused: "MALFORMED_JSON" });
    await check({ path: "/lenient", body, got: {} });
  }
});

test("depth is bounded, text is not mistaken for depth", async () => {
  const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);
  await check({ body: nested(limits.jsonDepth), got: JSON.parse(nested(limits.jsonDepth)) });
  await check({ body: nested(limits.jsonDepth + 1), refused: "BODY_TOO_DEEP" });
  await check({ body: '{"a":'.repeat(100_000), refused: "BODY_TOO_DEEP" });
  await check({ path: "/lenient", body: nested(limits.jsonDepth + 1), got: {} });
  const brackets = "[".repeat(100);
  await check({ body: JSON.stringify({ text: `"${brackets}\\` }), got: { text: `"${brackets}\\` } });
  await check({ body: `[${"[],".repeat(500)}[]]`, got: Array.from({ length: 501 }, () => []) });
});

test("no object gets another prototype", async () => {
  const body = '{"__proto__":{"admin":true},"a":{"__proto__":1,"b":2}}';
  await check({ body, got: { a: { b: 2 } } });
});

test("size, compression and other types are refused", async () => {
  const large = JSON.stringify("x".repeat(limits.jsonBodyBytes));
  await check({ body: large, refused: "PAYLOAD_TOO_LARGE" });
  await check({ path: "/lenient", body: large, refused: "PAYLOAD_TOO_LARGE" });
  for (const encoding of ["gzip", "br", "deflate"])
    await check({ body: "{}", encoding, refused: "UNSUPPORTED_MEDIA_TYPE" });
  await check({ body: "{}", encoding: "identity", got: {} });
  for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"])
    await check({ body: "{}", type, refused: "UNSUPPORTED_MEDIA_TYPE" });
});

interface Check {
  path?: string;
  body: string;
  type?: string;
  encoding?: string;
  got?: unknown;
  refused?: string;
}

async function check({ path = "/", body, type = JSON_TYPE, encoding, got, refused }: Check): Promise<void> {
  const app = Fastify({ bodyLimit: limits.jsonBodyBytes });
  installErrorReplies(app, createCollectedLog().log);
  installJsonBodies(app);
  let received: unknown;
  const route = async (request: { body: unknown }): Promise<string> => {
    received = request.body === undefined ? "nothing" : request.body;
    return "ok";
  };
  app.post("/", route);
  app.post("/lenient", { config: { lenientBody: true } }, route);
  const response = await app.inject({
    method: "POST",
    url: path,
    payload: body,
    headers: { "content-type": type, ...(encoding ? { "content-encoding": encoding } : {}) },
  });
  const label = `${path} ${type} ${body.slice(0, 60)}`;
  if (refused) assert.equal(response.json<{ code: string }>().code, refused, label);
  else assert.equal(response.statusCode, 200, label);
  assert.deepEqual(received, got, label);
}
