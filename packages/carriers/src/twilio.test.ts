import assert from "node:assert/strict";
import { test } from "node:test";
import type { CarrierEvent, CarrierMessage, Stream } from "./carrier.ts";
import { twilio } from "./twilio.ts";

const START: CarrierMessage = {
  event: "start",
  sequenceNumber: "1",
  streamSid: "MZ18ad",
  start: {
    streamSid: "MZ18ad",
    accountSid: "AC0123",
    callSid: "CA4567",
    tracks: ["inbound"],
    mediaFormat: { encoding: "audio/x-mulaw", sampleRate: 8000, channels: 1 },
    customParameters: { from_number: "+14158675309", to_number: "+18005551212", agent: "greeter" },
  },
};

test("a start opens a call with what the webhook passed on", () => {
  const stream = open();
  assert.deepEqual(stream.callData, {
    streamId: "MZ18ad",
    callId: "CA4567",
    from: "+14158675309",
    to: "+18005551212",
    body: { from_number: "+14158675309", to_number: "+18005551212", agent: "greeter" },
    accountSid: "AC0123",
  });
  assert.deepEqual(stream.receives, { encoding: "mulaw", sampleRateHz: 8_000 });
  assert.deepEqual(stream.sends, stream.receives);
  assert.equal(stream.chunkMs, 40);
  assert.equal(stream.acknowledgesMarks, true);
});

test("an emulation that leaves the optional out is taken, and never asked for marks", () => {
  const stream = open({ event: "start", start: { streamSid: "ws_mock_stream", callSid: "ws_mock_call" } });
  assert.deepEqual(stream.callData, {
    streamId: "ws_mock_stream",
    callId: "ws_mock_call",
    from: null,
    to: null,
    body: {},
  });
  assert.equal(stream.acknowledgesMarks, false);
});

test("what is not a start of a Twilio call opens nothing", () => {
  const start = START["start"] as CarrierMessage;
  const others: CarrierMessage[] = [
    {},
    { event: "connected", protocol: "Call", version: "1.0.0" },
    { ...START, event: "media" },
    { ...START, start: null },
    { ...START, start: "MZ18ad" },
    { ...START, start: [start] },
    { ...START, start: { ...start, callSid: "" } },
    { ...START, start: { ...start, callSid: 5 } },
    { ...START, start: { ...start, streamSid: undefined } },
    { ...START, start: { ...start, streamSid: { toString: "MZ" } } },
  ];
  for (const other of others) assert.equal(twilio.open(other, new URLSearchParams()), undefined);
});

test("ids that cannot be part of an address open nothing", () => {
  for (const callSid of [".", "..", "\ud800", "x".repeat(257)]) {
    const start = { ...(START["start"] as object), callSid };
    assert.equal(twilio.open({ ...START, start }, new URLSearchParams()), undefined, callSid.slice(0, 9));
  }
});

test("every message of Twilio is understood", () => {
  const media = (fields: object): CarrierMessage => ({
    event: "media",
    sequenceNumber: "3",
    streamSid: "MZ18ad",
    media: { track: "inbound", chunk: "1", timestamp: "5", payload: "//8=", ...fields },
  });
  check({ event: "connected", protocol: "Call", version: "1.0.0" }, undefined);
  check(START, undefined);
  check(media({}), { type: "media", payload: "//8=" });
  check(media({ track: undefined }), { type: "media", payload: "//8=" });
  check(media({ track: "inbound_track" }), { type: "media", payload: "//8=" });
  check(media({ track: "outbound" }), undefined);
  check(media({ track: "both_tracks" }), undefined);
  check(media({ payload: "" }), undefined);
  check(media({ payload: 5 }), undefined);
  check({ event: "media" }, undefined);
  check({ event: "media", media: { payload: "//8=" } }, { type: "media", payload: "//8=" });
  check({ event: "dtmf", dtmf: { track: "inbound_track", digit: "1" } }, { type: "dtmf", key: "1" });
  check({ event: "dtmf", dtmf: { digit: "#" } }, { type: "dtmf", key: "#" });
  check({ event: "dtmf", dtmf: {} }, undefined);
  check({ event: "mark", mark: { name: "0:960" } }, { type: "mark", name: "0:960" });
  check({ event: "mark", mark: { name: "" } }, undefined);
  check({ event: "stop", sequenceNumber: "9", stop: { accountSid: "AC", callSid: "CA" } }, { type: "stop" });
  check({ event: "stop" }, { type: "stop" });
  check({ event: "something new" }, undefined);
  check({ event: ["stop"] }, undefined);
  check({}, undefined);
});

test("we speak as Twilio wants it", () => {
  const stream = open();
  assert.deepEqual(JSON.parse(stream.media("//8=")), {
    event: "media",
    streamSid: "MZ18ad",
    media: { payload: "//8=" },
  });
  assert.deepEqual(JSON.parse(stream.mark("0:960")), {
    event: "mark",
    streamSid: "MZ18ad",
    mark: { name: "0:960" },
  });
  assert.deepEqual(JSON.parse(stream.clear()), { event: "clear", streamSid: "MZ18ad" });
});

function open(message: CarrierMessage = START): Stream {
  const stream = twilio.open(message, new URLSearchParams());
  assert.ok(stream);
  return stream;
}

function check(message: CarrierMessage, expected: CarrierEvent | undefined): void {
  assert.deepEqual(open().read(message), expected, JSON.stringify(message));
}
