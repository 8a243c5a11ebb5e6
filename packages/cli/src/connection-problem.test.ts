import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { refusedRequest, unreachable } from "./connection-problem.ts";
import { shownUrl } from "./results.ts";
import { version } from "./version.ts";
import { createSigner } from "./webhook/signer.ts";

test("why nobody could be reached", () => {
  const failed = (code: string): Error => Object.assign(new Error(`it was ${code}`), { code });
  const table: [unknown, string, RegExp][] = [
    [failed("ECONNREFUSED"), "connection_refused", /Nothing listens at localhost:7860/],
    [new AggregateError([failed("ECONNREFUSED")]), "connection_refused", /Nothing listens/],
    [new TypeError("fetch failed", { cause: failed("ENOTFOUND") }), "host_unknown", /Host .* not found/],
    [failed("ECONNRESET"), "connection_reset", /during the handshake/],
    [new DOMException("late", "TimeoutError"), "timed_out", /did not answer in time/],
    [failed("ERR_SSL_WRONG_VERSION_NUMBER"), "tls_failed", /TLS failed/],
    [failed("EPROTO"), "tls_failed", /TLS failed/],
    [new Error("odd"), "connect_failed", /odd/],
    ["not even an error", "connect_failed", /not even/],
  ];
  for (const [error, code, why] of table) {
    const problem = unreachable("ws://localhost:7860/ws", error);
    assert.equal(problem.code, code);
    assert.match(problem.why ?? "", why);
    assert.equal(problem.exitCode, 1);
  }
});

test("what a refusal is about", async () => {
  const refusal = {
    what: "stream",
    url: "ws://h/ws",
    body: "",
    signer: await createSigner("twilio", undefined),
  } as const;
  const table: [status: number, body: string, message: RegExp, fixes: RegExp][] = [
    [
      403,
      '{"detail":"Invalid WebSocket token","code":"TOKEN_INVALID"}',
      /403: Invalid WebSocket token/,
      /--token/,
    ],
    [403, "", /answered 403$/, /TWILIO_AUTH_TOKEN.*--token.*--proxy/s],
    [401, "nope", /401: nope/, /--signing-secret/],
    [404, "<html>", /answered 404$/, /7860\/ws/],
    [307, "", /307/, /final address/],
    [500, "", /500/, /log/],
  ];
  for (const [status, body, message, fixes] of table) {
    const problem = refusedRequest({ ...refusal, status, body });
    assert.match(problem.message, message);
    assert.match(problem.fixes.join("\n"), fixes);
  }
  const known = refusedRequest({ ...refusal, status: 403, signer: await createSigner("twilio", "secret") });
  assert.match(known.fixes.join(), /--public-url/);
  const exotel = refusedRequest({ ...refusal, status: 403, signer: await createSigner("exotel", undefined) });
  assert.doesNotMatch(exotel.fixes.join(), /signature/i);
});

test("addresses are shown without what they keep secret", () => {
  const token = "x".repeat(90);
  const table: [string, string][] = [
    ["ws://localhost:7860/ws", "ws://localhost:7860/ws"],
    [`wss://h/ws/${token}`, "wss://h/ws/…"],
    ["wss://user:pass@h/ws", "wss://user:…@h/ws"],
    [`wss://h/ws?token=${token}&a=b`, "wss://h/ws?token=…&a=b"],
    ["ws://h/%E0%A4%A", "ws://h/%E0%A4%A"],
  ];
  for (const [address, shown] of table) assert.equal(shownUrl(address), shown);
});

test("the version is the manifest's", () => {
  const manifest = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as object;
  assert.deepEqual({ ...manifest, version }, manifest);
});
