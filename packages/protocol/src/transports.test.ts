import assert from "node:assert/strict";
import { test } from "node:test";
import { isAppError } from "./errors.ts";
import { limits } from "./limits.ts";
import {
  chooseTransport,
  Connect,
  requestedTransport,
  requireStartBodyFits,
  transportNames,
  type TransportChoice,
} from "./transports.ts";

const everything: TransportChoice = { accepted: transportNames, refusal: "is not here." };

test("a start gets the transport it asks for, WebRTC when it names none", () => {
  for (const name of transportNames) assert.equal(chooseTransport(name, everything), name);
  assert.equal(chooseTransport(undefined, everything), "webrtc");
  assert.equal(chooseTransport(null, everything), "webrtc");
  assert.equal(chooseTransport(undefined, { ...everything, only: "twilio" }), "twilio");
});

test("a room has other names, and Daily's clients ask for theirs without naming a transport", () => {
  for (const name of ["daily", "livekit"]) assert.equal(chooseTransport(name, everything), "room");
  assert.equal(chooseTransport("daily", { ...everything, only: "room" }), "room");
  assert.equal(requestedTransport({ createDailyRoom: true }), "daily");
  assert.equal(requestedTransport({ createDailyRoom: true, transport: "webrtc" }), "webrtc");
  assert.equal(requestedTransport({ createDailyRoom: false }), undefined);
  const room = { token: "t" };
  assert.equal(requestedTransport({ room }), "room");
  assert.equal(requestedTransport({ room, createDailyRoom: true }), "room");
  assert.equal(requestedTransport({ room, transport: "livekit" }), "livekit");
  assert.throws(() => requestedTransport({ room, transport: "webrtc" }), /Only transport 'room'/);
});

test("a transport that is unknown, not accepted or not the only one is refused in its own way", () => {
  refused(() => chooseTransport("pigeon", everything), "TRANSPORT_UNKNOWN", "Unknown transport 'pigeon'.");
  refused(() => chooseTransport("x".repeat(999), everything), "TRANSPORT_UNKNOWN", /^.{0,130}$/);
  refused(
    () => chooseTransport("daily", { ...everything, accepted: ["webrtc"] }),
    "TRANSPORT_DISABLED",
    "Transport 'daily' is not here.",
  );
  refused(
    () => chooseTransport("plivo", { ...everything, accepted: ["webrtc"] }),
    "TRANSPORT_DISABLED",
    "Transport 'plivo' is not here.",
  );
  refused(
    () => chooseTransport("webrtc", { ...everything, only: "twilio" }),
    "TRANSPORT_NOT_ALLOWED",
    /configured for 'twilio' only \(-t twilio\)/,
  );
});

test("the start body of a socket fits into a URL, in bytes and not in characters", () => {
  const fits = "x".repeat(limits.websocketStartBodyBytes - 2); // and its quotes
  for (const name of transportNames) requireStartBodyFits(name, fits);
  requireStartBodyFits("websocket", undefined);
  const isSocket = (name: string): boolean => name !== "webrtc" && name !== "room";
  for (const name of transportNames.filter((each) => !isSocket(each))) requireStartBodyFits(name, `${fits}x`);
  const wide = "é".repeat(limits.websocketStartBodyBytes / 2);
  for (const name of transportNames.filter(isSocket))
    for (const body of [`${fits}x`, wide])
      refused(() => requireStartBodyFits(name, body), "PAYLOAD_TOO_LARGE", /4096 bytes at most/);
});

test("an instance is told in one way how its client comes", () => {
  const iceServers = [{ urls: "stun:localhost" }];
  assert.deepEqual(Connect.parse({ kind: "webrtc", iceServers }), { kind: "webrtc", iceServers });
  assert.deepEqual(Connect.parse({ kind: "socket" }), { kind: "socket" });
  for (const wrong of [undefined, {}, { kind: "webrtc" }, { kind: "pigeon" }])
    assert.equal(Connect.safeParse(wrong).success, false);
});

function refused(run: () => unknown, code: string, message: string | RegExp): void {
  assert.throws(run, (error) => {
    assert.ok(isAppError(error));
    assert.equal(error.code, code);
    if (typeof message === "string") assert.equal(error.message, message);
    else assert.match(error.message, message);
    return true;
  });
}
