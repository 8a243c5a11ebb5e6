import assert from "node:assert/strict";
import { test } from "node:test";
import { SESSION_OF_REQUEST, unwrapSessionPath, type SessionRequest } from "./session-path.ts";
import type { SessionTable } from "./session-table.ts";

test("under a known session a user's own routes are found", () => {
  check({ url: "/sessions/known/hello", becomes: "/hello" });
  check({ url: "/sessions/known/a/b/c", becomes: "/a/b/c" });
  check({ url: "/sessions/known/hello?x=1&y=%2F", becomes: "/hello?x=1&y=%2F" });
  check({ url: "/sessions/known/hello/", becomes: "/hello/" });
  check({ url: "/sessions/known/startle", becomes: "/startle" });
  check({ url: "/sessions/known/clients", becomes: "/clients" });
  check({ url: "/sessions/known/api/offers", becomes: "/api/offers" });
});

test("the server's own routes stay where they are", () => {
  const own = [
    "",
    "start",
    "status",
    "client",
    "client/",
    "client/index.html",
    "files/x",
    "sessions/known/x",
  ];
  for (const path of [...own, "ws", "ws/token", "ws-client", "ws-client/token", "api/offer"])
    check({ url: `/sessions/known/${path}`, becomes: undefined });
  check({ url: "/sessions/known/start?x=1", becomes: undefined });
  check({ url: "/sessions/known/star%74", becomes: undefined });
  check({ url: "/sessions/known/ws%2Dclient", becomes: undefined });
});

test("other paths are left alone", () => {
  for (const url of [
    "/",
    "/hello",
    "/sessions",
    "/sessions/",
    "/sessions/known",
    "/sessions/known?x=/y",
    "/sessions//x",
  ])
    check({ url, becomes: undefined });
  check({ url: "/sessions/unknown/hello", becomes: undefined });
});

test("paths that a second decoding could change are left alone", () => {
  for (const path of [
    "a/../start",
    "..",
    "./start",
    "%2e%2e/start",
    "a%2Fb",
    "a%5cb",
    "a\\b",
    "a//b",
    "a%00",
    "a%",
    "a#b",
    "/start",
  ])
    check({ url: `/sessions/known/${path}`, becomes: undefined });
});

function check({ url, becomes }: { url: string; becomes: string | undefined }): void {
  const sessions = { get: (id: string) => (id === "known" ? {} : undefined) } as unknown as SessionTable;
  const request = { url } as SessionRequest;
  assert.equal(unwrapSessionPath(request, sessions), becomes ?? url, url);
  assert.equal(request[SESSION_OF_REQUEST], becomes === undefined ? undefined : "known", url);
}
