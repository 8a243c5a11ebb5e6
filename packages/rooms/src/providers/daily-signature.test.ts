import assert from "node:assert/strict";
import { test } from "node:test";
import { isSignedByDaily, type DailySigned } from "./dial-in.ts";

const SECRET = "AgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgI=";
const TIMESTAMP_S = 1_700_000_000;
const SIGNED: DailySigned = {
  rawBody: '{"To":"+15551230000","From":"+15557770000","callId":"c","callDomain":"d"}',
  timestamp: String(TIMESTAMP_S),
  signature: "j+YJcKB8WccixHhGwKf0F6dD2MmZBwzA7N7qcNdaNz4=",
  nowMs: TIMESTAMP_S * 1000,
};

test("the documented signature fits, and one changed bit anywhere does not", () => {
  assert.ok(isSignedByDaily(SIGNED, SECRET));
  for (const part of ["rawBody", "timestamp", "signature"] as const)
    for (const mutant of oneBitMutants(SIGNED[part] ?? ""))
      assert.ok(!isSignedByDaily({ ...SIGNED, [part]: mutant }, SECRET), mutant);
});

test("what is missing, old or signed with another secret is refused", () => {
  assert.ok(!isSignedByDaily({ ...SIGNED, signature: undefined }, SECRET));
  assert.ok(!isSignedByDaily({ ...SIGNED, timestamp: undefined }, SECRET));
  assert.ok(!isSignedByDaily(SIGNED, "AwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwM="));
  const at = (offsetS: number): DailySigned => ({ ...SIGNED, nowMs: (TIMESTAMP_S + offsetS) * 1000 });
  for (const offsetS of [300, -300]) assert.ok(isSignedByDaily(at(offsetS), SECRET));
  for (const offsetS of [301, -301]) assert.ok(!isSignedByDaily(at(offsetS), SECRET));
});

function* oneBitMutants(text: string): Generator<string> {
  const bytes = Buffer.from(text, "latin1");
  for (let at = 0; at < bytes.length; at += 1)
    for (let bit = 0; bit < 8; bit += 1) {
      const mutant = Buffer.from(bytes);
      mutant[at]! ^= 1 << bit;
      yield mutant.toString("latin1");
    }
}
