import assert from "node:assert/strict";
import { test } from "node:test";
import { invitationAddress, parseInvitation } from "./invitation.ts";

test("an invitation survives the way through an address", () => {
  const invitation = { url: "wss://bots.example.com", token: "a.b-c_d", sessionId: "0f8f" };
  const address = invitationAddress("https://bots.example.com", invitation);
  assert.deepEqual(parseInvitation(new URL(address).hash), invitation);
});

test("what is no room is no invitation", () => {
  for (const hash of [
    "",
    "#",
    "#room=ws://a",
    "#token=t",
    "#room=https://a&token=t",
    "#room=javascript:1&token=t",
  ])
    assert.equal(parseInvitation(hash), undefined, hash);
});
