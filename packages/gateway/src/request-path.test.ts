import assert from "node:assert/strict";
import { test } from "node:test";
import { isInternal, isReserved, parseRequestPath, parseSessionPath } from "./request-path.ts";

test("an ordinary address is taken apart and stays as it was sent", () => {
  assert.deepEqual(parseRequestPath("/v1/a%20b?x=%2F..&y#".slice(0, -1)), {
    raw: "/v1/a%20b",
    decoded: "/v1/a b",
    query: "?x=%2F..&y",
  });
  assert.deepEqual(parseRequestPath("/"), { raw: "/", decoded: "/", query: "" });
  assert.deepEqual(parseRequestPath("/a?"), { raw: "/a", decoded: "/a", query: "?" });
  for (const url of ["/a/..b", "/a/...", "/.well-known/x", "/a.b/c", "/a%2525", "/~x/@y/!z,w=$"])
    assert.ok(parseRequestPath(url), url);
});

test("whatever could be read in two ways is refused", () => {
  const odd = [
    "",
    "*",
    "x",
    "http://h/",
    "//h/x",
    "/a//b",
    "/.",
    "/..",
    "/a/../b",
    "/a/./b",
    "/%2e",
    "/a/%2E%2e/b",
  ];
  odd.push(
    "/a%2fb",
    "/a%2Fb",
    "/a%5cb",
    "/a\\b",
    "/a%00b",
    "/a\0b",
    "/a b",
    "/a\tb",
    "/é",
    "/a#b",
    "/%",
    "/%ff",
  );
  odd.push(
    "/%252e%252e/x",
    "/a%252fb",
    "/a%255cb",
    "/a%2500b",
    "/a%0ab",
    "/a%0db",
    "/a%7fb",
    "/..;/x",
    "/x/..;y=1/z",
  );
  for (const url of odd) assert.equal(parseRequestPath(url), undefined, url);
});

test("the session proxy and the private interface are told from the rest", () => {
  const parse = (url: string) => parseSessionPath(parseRequestPath(url) ?? assert.fail(url));
  assert.deepEqual(parse("/v1/public/my-bot/sessions/ses-1/api/offer?x"), {
    agent: "my-bot",
    sessionId: "ses-1",
    rest: "/api/offer",
  });
  for (const url of [
    "/v1/public/a/start",
    "/v1/public/a/sessions/1",
    "/v1/agents/a/sessions/1/x",
    "/x/v1/public/a/sessions/1/x",
  ])
    assert.equal(parse(url), undefined, url);
  const internal = (url: string) => isInternal(parseRequestPath(url) ?? assert.fail(url));
  for (const url of ["/internal", "/internal/x", "/%49nternal/x", "/internal;a/x"])
    assert.ok(internal(url), url);
  for (const url of ["/internals", "/v1/internal"]) assert.ok(!internal(url), url);
});

test("paths of the session server itself are reserved, in every spelling; offers and users' routes are not", () => {
  for (const rest of [
    "/",
    "/bot",
    "/BOT",
    "/%62ot",
    "/bot/x",
    "/bot;y",
    "/ws",
    "/ws-client/t",
    "/readyz",
    "/livez",
    "/whatsapp",
    "/instance",
    "/instance/start",
    "/instances",
    "/start",
    "/status",
    "/client/x",
    "/files/x",
    "/sessions/y/z",
    "/%",
  ])
    assert.ok(isReserved(rest), rest);
  for (const rest of ["/api/offer", "/api", "/bots", "/my/ws", "/wsx", "/robot", "/starter"])
    assert.ok(!isReserved(rest), rest);
});
