import assert from "node:assert/strict";
import { test } from "node:test";
import { toCallChoice, toCarrier } from "./call-choice.ts";

const requested = { carrier: "plivo", from: "+1 202", to: "5" };

test("numbers are cleaned and must be numbers", () => {
  assert.deepEqual(toCallChoice(requested, ["plivo"]), { carrier: "plivo", from: "+1202", to: "5" });
  assert.equal(toCallChoice({ ...requested, to: "home" }, ["plivo"]), undefined);
  assert.equal(toCallChoice(requested, ["webrtc"]), undefined);
});

test("a carrier the runner does not accept is replaced by one that it does", () => {
  assert.equal(toCarrier("plivo", ["webrtc", "plivo", "twilio"]), "plivo");
  assert.equal(toCarrier("plivo", ["exotel", "twilio"]), "twilio");
});
