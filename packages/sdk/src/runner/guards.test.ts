import assert from "node:assert/strict";
import { test } from "node:test";
import Fastify from "fastify";
import { installErrorReplies } from "../server/error-replies.ts";
import { createCollectedLog } from "../testing/collected-log.ts";
import { createGuards, installGuards } from "./guards.ts";

test("only the runner's own names are answered to", async () => {
  const own: [Config, string[]][] = [
    [{}, ["localhost:7860", "127.0.0.1:7860", "[::1]:7860", "LOCALHOST", "localhost"]],
    [{ host: "127.0.0.2" }, ["127.0.0.2:7860", "localhost:7860"]],
    [{ host: "0.0.0.0" }, ["192.168.1.5:7860", "[fe80::1]:7860", "localhost:7860"]],
    [{ host: "box.local" }, ["box.local:7860", "Box.Local:7860"]],
    [{ proxy: "bots.example.com" }, ["bots.example.com", "bots.example.com:443"]],
    [{ proxy: "bots.example.com:8443" }, ["bots.example.com:8443"]],
  ];
  for (const [config, hosts] of own)
    for (const host of hosts) await check({ config, headers: { host }, status: 200 });
  const foreign: [Config, string[]][] = [
    [
      {},
      [
        "evil.example.com",
        "192.168.1.5:7860",
        "localhost.evil.com",
        "localhost:7860:1",
        "a b",
        "local\thost",
      ],
    ],
    [{ host: "0.0.0.0" }, ["evil.example.com:7860", "1.2.3.4.evil.com"]],
    [{ proxy: "bots.example.com" }, ["evil.bots.example.com", "bots.example.com.evil.com"]],
  ];
  for (const [config, hosts] of foreign)
    for (const host of hosts) await check({ config, headers: { host }, refused: "HOST_NOT_ALLOWED" });
});

test("pages of other origins are refused, the runner's own and listed ones are not", async () => {
  const config = { allowedOrigins: ["https://app.example.com"] };
  for (const origin of [
    "http://localhost:7860",
    "https://app.example.com",
    "https://APP.example.com",
    undefined,
  ])
    await check({ config, headers: { origin }, status: 200 });
  for (const origin of [
    "http://localhost:3000",
    "http://localhost",
    "https://evil.example.com",
    "https://app.example.com.evil.com",
    "http://app.example.com",
    "http://localhost:7860/",
    "null",
    "",
    "localhost:7860",
  ])
    await check({ config, headers: { origin }, refused: "ORIGIN_NOT_ALLOWED" });
});

test("a page that may use the runner is told so, and no other", async () => {
  const origin = "https://app.example.com";
  const config = { allowedOrigins: [origin] };
  const allowed = await request({ config, headers: { origin } });
  assert.equal(allowed.headers["access-control-allow-origin"], origin);
  assert.equal(allowed.headers["vary"], "Origin");
  assert.equal(allowed.headers["access-control-expose-headers"], "x-vocalhost-session-id");
  assert.equal(allowed.headers["access-control-allow-credentials"], undefined);
  const refused = await request({ config, headers: { origin: "https://evil.example.com" } });
  assert.equal(refused.headers["access-control-allow-origin"], undefined);
  const script = await request({ config });
  assert.equal(script.headers["access-control-allow-origin"], undefined);
});

test("a page of another server on this machine gets what a client needs, and may read why it gets no more", async () => {
  const origins = [
    "http://localhost:5173",
    "http://127.0.0.1:3000",
    "https://[::1]:8443",
    "http://localhost",
  ];
  for (const origin of origins) {
    for (const url of [
      "/start",
      "/status?x=1",
      "/sessions/1/api/offer",
      "/api/offer",
      "/ws-client/token",
      "/rtc?access_token=x",
      "/rtc/validate",
    ]) {
      const reply = await request({ headers: { origin }, url });
      assert.equal(reply.statusCode, 404, url); // the guard let it through, and there are no routes here
      assert.equal(reply.headers["access-control-allow-origin"], origin);
    }
    for (const url of ["/", "/files/x", "/startle", "/statuses", "/api/offers", "/mirror", "//start"]) {
      const reply = await request({ headers: { origin }, url });
      assert.equal(reply.json<{ code: string }>().code, "ORIGIN_NOT_ALLOWED", url);
      assert.equal(reply.headers["access-control-allow-origin"], origin);
    }
  }
  const notNeighbours = ["http://localhost.evil.com", "http://evil.com:5173", "file://localhost", "null"];
  for (const origin of notNeighbours)
    await check({ url: "/start", headers: { origin }, refused: "ORIGIN_NOT_ALLOWED" });
  const config = { proxy: "bots.example.com" };
  const headers = { origin: "http://localhost:5173", host: "bots.example.com" };
  await check({ config, url: "/start", headers, refused: "ORIGIN_NOT_ALLOWED" }); // their localhost is not ours
});

test("preflights of allowed origins are answered, wherever they go", async () => {
  const origin = "https://app.example.com";
  const headers = { origin, "access-control-request-method": "PATCH" };
  for (const url of ["/", "/nowhere"]) {
    const reply = await request({ config: { allowedOrigins: [origin] }, method: "OPTIONS", url, headers });
    assert.equal(reply.statusCode, 204);
    assert.match(String(reply.headers["access-control-allow-methods"]), /PATCH/);
    assert.match(String(reply.headers["access-control-allow-headers"]), /content-type/);
  }
  await check({ method: "OPTIONS", headers, refused: "ORIGIN_NOT_ALLOWED" });
});

test("what a page may send without asking is refused", async () => {
  for (const type of [
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data",
    "application/jsonx",
  ])
    await check({
      method: "POST",
      headers: { "content-type": type },
      body: "{}",
      refused: "UNSUPPORTED_MEDIA_TYPE",
    });
  for (const type of ["application/json", "application/json; charset=utf-8", "Application/JSON"])
    await check({ method: "POST", headers: { "content-type": type }, body: "{}", status: 200 });
  await check({ method: "POST", status: 200 });
  await check({
    method: "POST",
    headers: { "content-type": "text/plain" },
    refused: "UNSUPPORTED_MEDIA_TYPE",
  });
});

type Config = Partial<Parameters<typeof createGuards>[0]>;

interface Request {
  config?: Config;
  method?: "GET" | "POST" | "OPTIONS";
  url?: string;
  headers?: Record<string, string | undefined>;
  body?: string;
}

async function check({
  status,
  refused,
  ...sent
}: Request & { status?: number; refused?: string }): Promise<void> {
  const reply = await request(sent);
  const label = JSON.stringify(sent);
  if (status) assert.equal(reply.statusCode, status, label);
  if (refused) assert.equal(reply.json<{ code: string }>().code, refused, label);
}

async function request({ config = {}, method = "GET", url = "/", headers = {}, body }: Request) {
  const app = Fastify();
  installErrorReplies(app, createCollectedLog().log);
  installGuards(app, createGuards({ host: "localhost", proxy: undefined, allowedOrigins: [], ...config }));
  app.get("/", async () => "ok");
  app.post("/", async () => "ok");
  const sent = Object.entries({ host: "localhost:7860", ...headers }).filter(
    ([, value]) => value !== undefined,
  );
  return await app.inject({
    method,
    url,
    headers: Object.fromEntries(sent) as Record<string, string>,
    ...(body === undefined ? {} : { payload: body }),
  });
}
