import assert from "node:assert/strict";
import { test } from "node:test";
import { readStunAnswer, stunAnswer, stunRequest } from "./stun.ts";

const transaction = Uint8Array.from({ length: 12 }, (_, at) => at * 17);

test("who asks is told from where it was seen", () => {
  for (const [address, seen] of [
    ["203.0.113.7", "203.0.113.7"],
    ["::ffff:203.0.113.7", "203.0.113.7"],
    ["2001:db8::7", "2001:db8:0:0:0:0:0:7"],
    ["::1", "0:0:0:0:0:0:0:1"],
  ] as const) {
    const answer = stunAnswer(stunRequest(transaction), { address, port: 40_000 });
    assert.ok(answer);
    assert.deepEqual(readStunAnswer(answer, transaction), { address: seen, port: 40_000 });
    assert.equal(
      readStunAnswer(
        answer,
        transaction.map((byte) => byte ^ 1),
      ),
      undefined,
    );
    assert.equal(readStunAnswer(answer.subarray(0, 24), transaction), undefined);
  }
});

test("the answer is the one of RFC 5769's example, but for what we leave out", () => {
  const known = "b7e7a701bc34d686fa87dfae";
  const answer = stunAnswer(stunRequest(bytesOf(known)), { address: "192.0.2.1", port: 32_853 });
  assert.equal(hexOf(answer), `0101000c2112a442${known}002000080001a147e112a643`);
});

test("only a plain question is answered", () => {
  const from = { address: "203.0.113.7", port: 1 };
  const request = stunRequest(transaction);
  assert.equal(stunAnswer(Uint8Array.from([...request, 0, 0, 0, 0]), from), undefined, "a check of a call");
  assert.equal(stunAnswer(request.subarray(1), from), undefined);
  assert.equal(stunAnswer(request.with(1, 2), from), undefined);
  assert.equal(stunAnswer(request.with(4, 0), from), undefined);
});

function bytesOf(hex: string): Uint8Array {
  return Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));
}

function hexOf(bytes: Uint8Array | undefined): string {
  return Array.from(bytes ?? [], (byte) => byte.toString(16).padStart(2, "0")).join("");
}
