import { AppError } from "@vocalhost/protocol";
import assert from "node:assert/strict";
import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import { test } from "node:test";
import { startFakeInstance } from "./testing/fake-instance.ts";
import { SESSION, SESSION_PATH, startRig } from "./testing/start-rig.ts";
import { patientMs } from "../../../testing/patience.ts";
import { until, within } from "../../../testing/wait.ts";

const route = (address: string) => ({ sessionId: SESSION, address, token: "instance-token" });

test("everything else goes to the controller and back, as streams, with forwarding headers of ours", async () => {
  await using rig = await startRig();
  let seen: IncomingMessage | undefined;
  rig.controller.serve = (request, response) => {
    seen = request;
    response.writeHead(201, { "x-answer": "yes", "set-cookie": ["a=1", "b=2"], connection: "close" });
    request.pipe(response);
  };
  const body = Buffer.alloc(3_000_000, "x");
  const told = await rig.fetch("/v1/agents?limit=5", {
    method: "POST",
    body,
    headers: {
      "x-forwarded-for": "6.6.6.6",
      "x-forwarded-host": "evil.example",
      forwarded: "for=6.6.6.6",
      te: "trailers",
      connection: "x-hop",
      "x-hop": "1",
      authorization: "Bearer key",
      cookie: "session=1",
      host: "vocalhost.example",
    },
  });
  assert.equal(told.status, 201);
  assert.equal(told.body.length, body.length);
  assert.equal(told.headers["x-answer"], "yes");
  assert.deepEqual(told.headers["set-cookie"], ["a=1", "b=2"]);
  assert.equal(told.headers["access-control-allow-origin"], undefined);
  assert.equal(seen?.url, "/v1/agents?limit=5");
  const { headers } = seen ?? assert.fail();
  assert.equal(headers["x-forwarded-for"], "127.0.0.1");
  assert.equal(headers["x-forwarded-proto"], "http");
  assert.equal(headers["x-forwarded-host"], "vocalhost.example");
  assert.equal(headers.authorization, "Bearer key");
  assert.equal(headers.cookie, "session=1");
  for (const name of ["x-hop", "te", "forwarded"]) assert.equal(headers[name], undefined, name);
});

test("forwarding headers are believed and the public address is told when configured", async () => {
  await using rig = await startRig({ trustForwarded: true, publicUrl: "https://voice.example" });
  let headers: IncomingMessage["headers"] = {};
  rig.controller.serve = (request, response) => {
    headers = request.headers;
    response.end();
  };
  await rig.fetch("/", { headers: { "x-forwarded-for": "10.0.0.1" } });
  assert.equal(headers["x-forwarded-for"], "10.0.0.1");
  assert.equal(headers["x-forwarded-proto"], "https");
  assert.equal(headers["x-forwarded-host"], "voice.example");
});

test("an event stream arrives as it is written, and its end is told to the controller", async () => {
  await using rig = await startRig();
  let closed = false;
  rig.controller.serve = (_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.flushHeaders();
    setTimeout(() => response.write("data: 1\n\n"), 30);
    response.once("close", () => (closed = true));
  };
  const sent = httpRequest({ port: rig.gateway.port, host: "127.0.0.1", path: "/v1/logs/tail" });
  sent.on("error", () => undefined).end();
  const [told] = (await once(sent, "response")) as [IncomingMessage];
  const [chunk] = (await once(told, "data")) as [Buffer];
  assert.equal(chunk.toString(), "data: 1\n\n");
  sent.destroy();
  await until(() => closed, 2_000, "end of the stream");
});

test("a request waits for a controller that comes back, and is refused when it does not", async () => {
  await using rig = await startRig({ timing: { controllerAwayMs: 1_000 } });
  rig.controller.serve = (request, response) => request.pipe(response);
  await rig.controller.kill();
  const health = await rig.fetch("/healthz");
  assert.deepEqual([health.status, health.body], [200, '{"status":"ok"}']);
  const refused = await rig.fetch("/v1/agents", { method: "POST", body: "a" });
  assert.equal(refused.status, 503);
  assert.equal(refused.headers["retry-after"], "1");
  assert.equal(JSON.parse(refused.body).code, "SERVICE_UNAVAILABLE");
  const waiting = Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      rig.fetch("/v1/agents", { method: "POST", body: `body ${index}` }),
    ),
  );
  await rig.controller.start();
  for (const [index, told] of (await waiting).entries())
    assert.deepEqual([told.status, told.body], [200, `body ${index}`]);
});

test("a controller that dies in the middle gives 503 before the answer, a cut connection within it", async () => {
  await using rig = await startRig({ timing: { controllerAwayMs: 200 } });
  rig.controller.serve = () => void rig.controller.kill();
  const told = await rig.fetch("/v1/agents", { method: "POST", body: "a" });
  assert.equal(told.status, 503);
  await rig.controller.start();
  rig.controller.serve = (_request, response) => {
    response.writeHead(200, { "content-length": "100" });
    response.write("half", () => void rig.controller.kill());
  };
  await assert.rejects(rig.fetch("/v1/agents"));
  assert.equal((await rig.fetch("/healthz")).status, 200);
});

test("the private interface of the controller is out of reach in every spelling", async () => {
  await using rig = await startRig();
  const reached: (string | undefined)[] = [];
  rig.controller.serve = (request, response) => {
    reached.push(request.url);
    response.end();
  };
  const spellings = [
    "/internal/session-route",
    "/internal",
    "/INTERNAL/session-left",
    "/%69nternal/session-route",
    "//internal/session-route",
    "/./internal/session-route",
    "/v1/../internal/session-route",
    "/v1/%2e%2e/internal/session-route",
    "/v1/..%2finternal/session-route",
    "/v1\\..\\internal/session-route",
    "/internal;x/session-route",
    "/internal%3fx/session-route",
    "http://controller/internal/session-route",
    "/%2569nternal%252fsession-route",
  ];
  for (const path of spellings) {
    const told = await rig.fetch(path, { method: "POST", body: "{}" });
    assert.ok(told.status === 400 || told.status === 404, `${path}: ${told.status}`);
  }
  assert.deepEqual(rig.controller.asked, []);
  assert.deepEqual(reached, []);
});

test("a session's request reaches its instance cleaned, its answer comes back cleaned", async () => {
  await using rig = await startRig();
  await using instance = await startFakeInstance({
    onRequest(request, response) {
      response.writeHead(207, {
        "x-bot": "1",
        "set-cookie": "stolen=1",
        "clear-site-data": '"*"',
        "strict-transport-security": "max-age=1",
        "access-control-allow-origin": "https://evil.example",
        "content-security-policy": "script-src *",
        "content-type": "text/html",
        "keep-alive": "timeout=5",
      });
      request.pipe(response);
    },
  });
  rig.controller.sessionRoute = () => route(instance.address);
  const told = await rig.fetch(`${SESSION_PATH}/api/offer?x=%2F..`, {
    method: "PATCH",
    body: "<script>",
    headers: {
      authorization: "Bearer pk_1",
      cookie: "session=1",
      "x-forwarded-for": "1.1.1.1",
      "x-forwarded-anything": "1",
      "x-own": "kept",
      "transfer-encoding": "chunked",
    },
  });
  assert.deepEqual([told.status, told.body], [207, "<script>"]);
  assert.equal(told.headers["x-bot"], "1");
  assert.equal(told.headers["x-content-type-options"], "nosniff");
  assert.match(String(told.headers["content-security-policy"]), /^sandbox;/);
  assert.equal(told.headers["access-control-allow-origin"], "*");
  assert.equal(
    told.headers["access-control-expose-headers"],
    "x-vocalhost-session-id, x-vocalhost-region, x-vocalhost-region-reason, retry-after, x-pcc-error-code",
  );
  for (const name of ["set-cookie", "clear-site-data", "strict-transport-security", "keep-alive"])
    if (name !== "keep-alive") assert.equal(told.headers[name], undefined, name);
  const [seen] = instance.requests;
  assert.equal(seen?.method, "PATCH");
  assert.equal(seen?.url, `/sessions/${SESSION}/api/offer?x=%2F..`);
  assert.equal(seen?.headers.authorization, "Bearer instance-token");
  assert.equal(seen?.headers.host, instance.address);
  assert.equal(seen?.headers["x-own"], "kept");
  for (const name of ["cookie", "x-forwarded-for", "x-forwarded-anything", "x-forwarded-host"])
    assert.equal(seen?.headers[name], undefined, name);
  assert.deepEqual(rig.controller.asked, [
    {
      path: "/internal/session-route",
      body: { agent: "parrot", sessionId: SESSION, authorization: "Bearer pk_1" },
    },
  ]);
});

test("preflights of public addresses are answered without asking anybody", async () => {
  await using rig = await startRig();
  const headers = { origin: "https://any.example", "access-control-request-method": "POST" };
  for (const path of ["/v1/public/parrot/start", `${SESSION_PATH}/api/offer`]) {
    const told = await rig.fetch(path, { method: "OPTIONS", headers });
    assert.equal(told.status, 204);
    assert.equal(told.headers["access-control-allow-origin"], "*");
    assert.equal(told.headers["access-control-allow-credentials"], undefined);
    assert.match(String(told.headers["access-control-allow-headers"]), /authorization/);
    assert.match(String(told.headers["access-control-allow-methods"]), /PATCH/);
    assert.equal(told.headers["access-control-max-age"], "7200");
  }
  rig.controller.serve = (_request, response) =>
    void response.writeHead(200, { "access-control-allow-origin": "https://own.example" }).end("{}");
  const started = await rig.fetch("/v1/public/parrot/start", { method: "POST", body: "{}" });
  assert.equal(started.headers["access-control-allow-origin"], "*");
  const management = await rig.fetch("/v1/agents", { method: "OPTIONS", headers });
  assert.equal(management.headers["access-control-allow-origin"], "https://own.example");
});

test("a refused route and a session that is over say so, with the words of the controller", async () => {
  await using rig = await startRig();
  rig.controller.sessionRoute = () => {
    throw new AppError("UNAUTHORIZED");
  };
  const refused = await rig.fetch(`${SESSION_PATH}/api/offer`);
  assert.equal(refused.status, 401);
  assert.equal(JSON.parse(refused.body).code, "UNAUTHORIZED");
  assert.equal(refused.headers["access-control-allow-origin"], "*");
  const instance = await startFakeInstance();
  rig.controller.sessionRoute = () => route(instance.address);
  assert.equal((await rig.fetch(`${SESSION_PATH}/api/offer`)).body, "hello");
  await instance.kill();
  const over = await rig.fetch(`${SESSION_PATH}/api/offer`);
  assert.equal(over.status, 404);
  assert.deepEqual(JSON.parse(over.body), {
    error: "Service not found",
    code: "NOT_FOUND",
    detail: "Service not found",
  });
});

test("a session's route is asked for once a second, and outlives the controller", async () => {
  const routeFreshMs = patientMs(150);
  await using rig = await startRig({ timing: { routeFreshMs, controllerAwayMs: 2_000 } });
  await using instance = await startFakeInstance();
  let allowed = true;
  rig.controller.sessionRoute = () => {
    if (!allowed) throw new AppError("UNAUTHORIZED");
    return route(instance.address);
  };
  const status = async (headers = {}): Promise<number> =>
    (await rig.fetch(`${SESSION_PATH}/custom`, { headers })).status;
  for (let count = 0; count < 5; count++) assert.equal(await status(), 200);
  assert.equal(rig.controller.asked.length, 1);
  assert.equal(await status({ authorization: "Bearer other" }), 200);
  assert.equal(rig.controller.asked.length, 2);
  await rig.controller.kill();
  await new Promise((resolve) => setTimeout(resolve, routeFreshMs + 50));
  assert.equal(await status(), 200, "an older answer is at hand");
  await rig.controller.start();
  allowed = false;
  assert.equal(await status(), 401);
  await rig.controller.kill();
  assert.equal(await within(status(), 4_000, "refusal"), 503);
});

test("silent streams stay, idle connections and readers that do not read are cut", async () => {
  await using rig = await startRig({ timing: { idleMs: 300, keepAliveMs: 300 } });
  const ended: string[] = [];
  rig.controller.serve = (request, response) => {
    response.once("close", () => ended.push(request.url ?? ""));
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.flushHeaders();
    const chunk = Buffer.alloc(100_000);
    const pump = (): void => {
      while (response.write(chunk));
      response.once("drain", pump);
    };
    if (request.url === "/flood") pump();
  };
  const open = async (path: string): Promise<IncomingMessage> => {
    const sent = httpRequest({ port: rig.gateway.port, host: "127.0.0.1", path, agent: false });
    sent.on("error", () => undefined).end();
    return ((await once(sent, "response")) as [IncomingMessage])[0];
  };
  const silent = await open("/silent");
  await open("/flood"); // and never reads the answer
  await until(() => ended.includes("/flood"), 5_000, "end of the flood");
  assert.deepEqual(ended, ["/flood"]);
  silent.destroy();
  const idle = connect(rig.gateway.port, "127.0.0.1");
  idle.write("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
  idle.resume();
  await within(once(idle, "end"), 5_000, "end of the idle connection");
});

test("an answer before the end of an upload comes through, and the connection ends with it", async () => {
  await using rig = await startRig();
  await using instance = await startFakeInstance({
    onRequest: (_request, response) => void response.writeHead(413, { "content-length": "0" }).end(),
  });
  rig.controller.sessionRoute = () => route(instance.address);
  rig.controller.serve = (_request, response) => void response.writeHead(413).end();
  for (const path of ["/v1/builds", `${SESSION_PATH}/upload`]) {
    const told = await rig.raw(`POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 900000\r\n\r\nhalf`);
    assert.match(told, /^HTTP\/1\.1 413 [^]*connection: close/i, path);
  }
});

test("the access log has no queries and no tokens", async () => {
  await using rig = await startRig();
  await rig.fetch("/v1/agents?secret=hidden-1");
  await rig.fetch("/%77s/generic/parrot.home/hidden-2");
  await rig.fetch("//ws/generic/parrot.home/hidden-3");
  await rig.refused("/ws/generic/parrot.home/hidden-4");
  await rig.refused("/ws/twilio/hidden-5?serviceHost=parrot.home&token=hidden-6");
  await until(() => rig.log.length >= 5, 2_000, "log");
  const text = JSON.stringify(rig.log);
  assert.doesNotMatch(text, /hidden/);
  assert.deepEqual(
    rig.log.map(({ fields }) => `${String(fields["path"])} ${String(fields["status"])}`),
    [
      "/v1/agents 404",
      "/ws/generic/parrot.home 400",
      "(not valid) 400",
      "/ws/generic/parrot.home 403",
      "/ws/twilio 403",
    ],
  );
});
