import assert from "node:assert/strict";
import { test } from "node:test";
import { oneBitMutants } from "../../testing/one-bit-mutants.ts";
import { checkDailySignature } from "./daily.ts";
import type { SignatureVerdict } from "./signed-request.ts";

const SECRET = "AgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgI=";
const TIMESTAMP_S = 1_700_000_000;
const BODY = '{"To":"+15551230000","From":"+15557770000","callId":"c","callDomain":"d"}';
const SIGNATURE = "j+YJcKB8WccixHhGwKf0F6dD2MmZBwzA7N7qcNdaNz4=";

test("the documented signature fits, and one changed bit anywhere does not", () => {
  assert.equal(verdict({}), "valid");
  for (const signature of oneBitMutants(SIGNATURE))
    assert.equal(verdict({ signature }), "invalid", signature);
  for (const rawBody of oneBitMutants(BODY)) assert.equal(verdict({ rawBody }), "invalid", rawBody);
  for (const timestamp of oneBitMutants(String(TIMESTAMP_S)))
    assert.equal(verdict({ timestamp }), "invalid", timestamp);
});

test("what is missing, old or signed with another secret is refused; without a secret nothing is checked", () => {
  assert.equal(verdict({ signature: undefined }), "invalid");
  assert.equal(verdict({ timestamp: undefined }), "invalid");
  assert.equal(verdict({ secret: "AwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwM=" }), "invalid");
  for (const offsetS of [300, -300]) assert.equal(verdict({ nowS: TIMESTAMP_S + offsetS }), "valid");
  for (const offsetS of [301, -301]) assert.equal(verdict({ nowS: TIMESTAMP_S + offsetS }), "invalid");
  assert.equal(verdict({ secret: undefined }), "off");
});

interface Case {
  signature?: string | undefined;
  timestamp?: string | undefined;
  rawBody?: string;
  secret?: string | undefined;
  nowS?: number;
}

function verdict(changes: Case): SignatureVerdict {
  const given = { signature: SIGNATURE, timestamp: String(TIMESTAMP_S), secret: SECRET, ...changes };
  const request = {
    method: "POST",
    url: "https://bots.example.com/daily-dialin-webhook",
    headers: { "x-pinless-timestamp": given.timestamp, "x-pinless-signature": given.signature },
    rawBody: changes.rawBody ?? BODY,
    nowMs: (changes.nowS ?? TIMESTAMP_S) * 1000,
  };
  return checkDailySignature(request, given.secret);
}
