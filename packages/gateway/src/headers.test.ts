import assert from "node:assert/strict";
import { test } from "node:test";
import { headersEndToEnd, headersForInstance, headersFromInstance, tokensOf, valuesOf } from "./headers.ts";

const names = (raw: string[]): string[] => raw.filter((_, index) => index % 2 === 0);

test("what concerns one hop is dropped, also what Connection names", () => {
  const raw = [
    "Connection",
    "close, X-Hop",
    "X-Hop",
    "1",
    "Keep-Alive",
    "5",
    "TE",
    "x",
    "Upgrade",
    "h2c",
    "X-A",
    "1",
    "X-A",
    "2",
    "Transfer-Encoding",
    "chunked",
    "Proxy-Authorization",
    "p",
  ];
  assert.deepEqual(headersEndToEnd(raw), ["X-A", "1", "X-A", "2"]);
});

test("Connection cannot take away what delimits a message", () => {
  assert.deepEqual(
    headersEndToEnd(["Connection", "Content-Length, Host", "Content-Length", "5", "Host", "h"]),
    ["Content-Length", "5", "Host", "h"],
  );
});

test("an instance hears neither who the client is nor how it came", () => {
  const raw = [
    "Host",
    "h",
    "Authorization",
    "a",
    "AUTHORIZATION",
    "b",
    "Cookie",
    "c",
    "X-Forwarded-For",
    "f",
    "x-forwarded-whatever",
    "f",
    "Forwarded",
    "f",
    "X-Real-IP",
    "f",
    "Content-Type",
    "t",
    "X-Twilio-Signature",
    "s",
  ];
  assert.deepEqual(names(headersForInstance(raw)), ["Content-Type", "X-Twilio-Signature"]);
});

test("a client hears nothing from an instance that counts for the whole host", () => {
  const raw = [
    "Set-Cookie",
    "a",
    "set-cookie",
    "b",
    "Alt-Svc",
    "x",
    "Clear-Site-Data",
    "x",
    "Strict-Transport-Security",
    "x",
    "Content-Security-Policy",
    "x",
    "Access-Control-Allow-Credentials",
    "true",
    "Service-Worker-Allowed",
    "/",
    "NEL",
    "x",
    "WWW-Authenticate",
    "Basic",
    "X-Content-Type-Options",
    "x",
    "Content-Type",
    "t",
    "Location",
    "/x",
  ];
  assert.deepEqual(names(headersFromInstance(raw)), ["Content-Type", "Location"]);
});

test("values and tokens are found whatever the case", () => {
  const raw = ["Connection", "Keep-Alive, ,Upgrade", "connection", "x"];
  assert.deepEqual(valuesOf(raw, "connection"), ["Keep-Alive, ,Upgrade", "x"]);
  assert.deepEqual(tokensOf(raw, "connection"), ["keep-alive", "upgrade", "x"]);
});
