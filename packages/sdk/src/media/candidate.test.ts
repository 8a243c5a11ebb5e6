import assert from "node:assert/strict";
import { test } from "node:test";
import { isUsableCandidate } from "./candidate.ts";

test("only addresses are usable", () => {
  const at = (address: string): string => `candidate:1 1 udp 2122260223 ${address} 54321 typ host`;
  for (const address of ["192.0.2.1", "2001:db8::1", "127.0.0.1"])
    assert.ok(isUsableCandidate(at(address)), address);
  for (const address of [
    "6ba7b810-9dad-11d1-80b4-00c04fd430c8.local",
    "bots.example.com",
    "192.0.2",
    "",
    "[::1]",
  ])
    assert.ok(!isUsableCandidate(at(address)), address);
  assert.ok(!isUsableCandidate(""));
  assert.ok(!isUsableCandidate("candidate:nonsense"));
  assert.ok(!isUsableCandidate(`${at("192.0.2.1")} ${"x".repeat(1024)}`));
});
