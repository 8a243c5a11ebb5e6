import assert from "node:assert/strict";
import type { IncomingMessage } from "node:http";
import { test } from "node:test";
import { clientAddress } from "./client-address.ts";

const of = (remoteAddress: string, forwarded: string | undefined, trustForwarded = true): string =>
  clientAddress(
    { headers: { "x-forwarded-for": forwarded }, socket: { remoteAddress } as IncomingMessage["socket"] },
    { trustForwarded },
  );

test("the address the proxy saw counts, and nothing a caller wrote", () => {
  assert.equal(of("10.0.0.9", "203.0.113.7"), "203.0.113.7");
  assert.equal(of("10.0.0.9", "6.6.6.6, 203.0.113.7"), "203.0.113.7");
  assert.equal(of("10.0.0.9", "203.0.113.7", false), "10.0.0.9");
});

test("the same address is always written the same way", () => {
  assert.equal(of("::ffff:192.0.2.1", undefined), "192.0.2.1");
  assert.equal(of("10.0.0.9", "203.0.113.7:4711"), "203.0.113.7");
  assert.equal(of("10.0.0.9", "[2001:DB8::1]:443"), "2001:db8::1");
  assert.equal(of("fe80::1%eth0", undefined), "fe80::1");
});

test("what is no address is not believed", () => {
  for (const forwarded of ["", "unknown", "203.0.113.7, _hidden", "1.2.3"])
    assert.equal(of("10.0.0.9", forwarded), "10.0.0.9");
});
