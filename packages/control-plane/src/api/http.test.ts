import assert from "node:assert/strict";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { startApiHarness } from "./testing/api-harness.ts";

test("what cannot be read is refused in words", async (t) => {
  await using api = await startApiHarness();
  const token = api.acme.privateKey;
  const json = { "content-type": "application/json" };
  const deep = `${"[".repeat(65)}${"]".repeat(65)}`;
  const cases: {
    name: string;
    path?: string;
    method?: string;
    headers?: Record<string, string>;
    body?: string;
    status: number;
    code: string;
  }[] = [
    { name: "malformed", headers: json, body: "{", status: 400, code: "GENERIC_BAD_REQUEST" },
    { name: "too deep", headers: json, body: deep, status: 400, code: "GENERIC_BAD_REQUEST" },
    { name: "not an object", headers: json, body: "[]", status: 400, code: "GENERIC_BAD_REQUEST" },
    { name: "empty", headers: json, body: "", status: 400, code: "GENERIC_BAD_REQUEST" },
    {
      name: "NUL",
      headers: json,
      body: '{"serviceName":"a\\u0000b","image":"a/b:c"}',
      status: 400,
      code: "GENERIC_BAD_REQUEST",
    },
    {
      name: "too large",
      headers: json,
      body: `"${"x".repeat(1024 * 1024)}"`,
      status: 413,
      code: "PAYLOAD_TOO_LARGE",
    },
    {
      name: "text",
      headers: { "content-type": "text/plain" },
      body: "{}",
      status: 415,
      code: "UNSUPPORTED_MEDIA_TYPE",
    },
    {
      name: "form",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: "a=b",
      status: 415,
      code: "UNSUPPORTED_MEDIA_TYPE",
    },
    {
      name: "compressed",
      headers: { ...json, "content-encoding": "gzip" },
      body: "{}",
      status: 415,
      code: "UNSUPPORTED_MEDIA_TYPE",
    },
    { name: "unknown path", path: "/v1/nothing", status: 404, code: "NOT_FOUND" },
    { name: "unknown path above", path: "/nothing", method: "GET", status: 404, code: "NOT_FOUND" },
    { name: "unknown method", method: "PATCH", headers: json, body: "{}", status: 404, code: "NOT_FOUND" },
    { name: "bad escape", path: "/v1/agents/%zz", method: "GET", status: 404, code: "NOT_FOUND" },
    {
      name: "NUL in a path",
      path: "/v1/agents/a%00b",
      method: "GET",
      status: 400,
      code: "GENERIC_BAD_REQUEST",
    },
    {
      name: "long name",
      path: `/v1/agents/${"a".repeat(300)}`,
      method: "GET",
      status: 404,
      code: "NOT_FOUND",
    },
  ];
  for (const { name, path = "/v1/agents", method = "POST", headers = {}, body, status, code } of cases)
    await t.test(name, async () => {
      const response = await api.fetch(path, {
        method,
        token,
        headers,
        ...(body === undefined ? {} : { body }),
      });
      const answer = (await response.json()) as { error: string; code: string; detail: unknown };
      assert.deepEqual({ status: response.status, code: answer.code }, { status, code });
      assert.ok(answer.code && answer.error, JSON.stringify(answer));
    });
});

test("bytes that are no request are answered and cut off", async () => {
  await using api = await startApiHarness();
  for (const bytes of ["NONSENSE\r\n\r\n", `GET / HTTP/1.1\r\nx: ${"y".repeat(20_000)}\r\n\r\n`]) {
    const socket = connect(Number(new URL(api.origin).port), "127.0.0.1");
    socket.write(bytes);
    const answer = await text(socket);
    assert.match(answer, /^HTTP\/1\.1 4\d\d /);
    assert.match(answer, /"code":"GENERIC_BAD_REQUEST"/);
  }
  assert.equal((await api.fetch("/healthz")).status, 200);
});

test("every answer carries its guards", async () => {
  await using api = await startApiHarness();
  for (const path of ["/v1/regions", "/v1/nothing", "/healthz", "/v1/openapi.json"]) {
    const { headers } = await api.fetch(path);
    assert.equal(headers.get("x-content-type-options"), "nosniff");
    assert.equal(headers.get("cache-control"), "no-store");
    assert.match(headers.get("content-security-policy") ?? "", /^default-src 'none'/);
  }
});

test("a cookie counts only from a page of ours", async () => {
  await using api = await startApiHarness();
  const cookie = `session=${await api.signIn(api.acme, "owner")}`;
  const json = { "content-type": "application/json", cookie };
  const post = async (headers: Record<string, string>) => {
    const body = JSON.stringify({ defaultRegion: "eu-central" });
    return (await api.fetch("/v1/properties", { method: "PATCH", headers: { ...json, ...headers }, body }))
      .status;
  };
  assert.equal((await api.fetch("/v1/properties", { headers: { cookie } })).status, 200);
  assert.equal(await post({}), 403);
  assert.equal(await post({ origin: "http://evil.example.com" }), 403);
  assert.equal(await post({ origin: api.origin, "sec-fetch-site": "cross-site" }), 403);
  assert.equal(await post({ origin: api.origin }), 200);
});

test("health and figures", async () => {
  await using api = await startApiHarness({ metricsToken: "let-me-look" });
  assert.deepEqual(await (await api.fetch("/healthz")).json(), { status: "ok", version: "0.0.0" });
  assert.equal((await api.fetch("/readyz")).status, 200);
  assert.equal((await api.fetch("/metrics")).status, 401);
  assert.equal((await api.fetch("/metrics", { token: api.acme.privateKey })).status, 401);
  await api.fetch("/v1/public/parrot/start", { method: "POST", token: api.acme.publicKey });
  const figures = await (await api.fetch("/metrics", { token: "let-me-look" })).text();
  assert.match(figures, /vocalhost_starts_total\{outcome="started"\} 1/);
  assert.match(figures, /vocalhost_build_info\{version="0\.0\.0"\} 1/);
  assert.match(
    figures,
    /vocalhost_http_request_seconds_count\{method="GET",route="\/healthz",status="2xx"\} 1/,
  );
  assert.match(figures, /# TYPE vocalhost_sessions gauge/);
  assert.match(figures, /vocalhost_usage_exports\{state="held"\} 0/);
  assert.match(figures, /# TYPE vocalhost_instances gauge/);
});

test("without a token of their own the figures are for those who may manage", async () => {
  await using api = await startApiHarness({ isReady: async () => false });
  assert.equal((await api.fetch("/metrics", { token: api.acme.privateKey })).status, 200);
  assert.equal((await api.fetch("/metrics", { token: api.acme.publicKey })).status, 401);
  assert.equal((await api.fetch("/metrics", { token: await api.signIn(api.acme, "viewer") })).status, 403);
  assert.equal((await api.fetch("/readyz")).status, 503);
});

test("signing in is passed on as it came", async () => {
  await using api = await startApiHarness();
  const body = JSON.stringify({ email: "a@b.c" });
  const init = { method: "POST", headers: { "content-type": "application/json" }, body };
  assert.deepEqual(await (await api.fetch("/auth/sign-in/email", init)).json(), {
    path: "/auth/sign-in/email",
    text: body,
  });
  assert.deepEqual(await (await api.fetch("/owner", init)).json(), { path: "/auth/redeem-link", text: body });
  assert.deepEqual(await (await api.fetch("/auth/get-session")).json(), {
    path: "/auth/get-session",
    text: "",
  });
  assert.deepEqual(await (await api.fetch("/auth/logout", { method: "POST" })).json(), { status: "OK" });
  assert.deepEqual(await api.client.authConfig(), {
    issuer: api.origin,
    client_id: "vocalhost-cli",
    scopes: "openid profile email offline_access",
    methods: ["password"],
  });
  const large = await api.fetch("/auth/sign-in/email", { ...init, body: "x".repeat(65 * 1024) });
  assert.equal(large.status, 413);
});
