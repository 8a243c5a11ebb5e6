import assert from "node:assert/strict";
import { test } from "node:test";
import {
  CarrierError,
  type CarrierEvent,
  type CarrierMessage,
  type Stream,
  type WireFormat,
} from "./carrier.ts";
import { telnyx } from "./telnyx.ts";

test("a start opens a call", () => {
  const stream = open();
  assert.deepEqual(stream.callData, {
    streamId: "32de0dea",
    callId: "v3:abc-_=",
    from: "+14158675309",
    to: "+18005551212",
    body: {},
    outboundEncoding: "PCMU",
    customParameters: { agent: "greeter" },
  });
  assert.equal(stream.chunkMs, 40);
  assert.equal(stream.acknowledgesMarks, true);
});

test("what may be absent is", () => {
  const { callData, receives } = open({ from: undefined, to: undefined, custom_parameters: undefined });
  assert.equal(callData.from, null);
  assert.equal(callData.to, null);
  assert.deepEqual(callData.customParameters, {});
  assert.deepEqual(receives, { encoding: "mulaw", sampleRateHz: 8_000 });
});

test("audio comes as the call negotiated it", () => {
  const received: [string, number | string | undefined, WireFormat][] = [
    ["PCMU", 8000, { encoding: "mulaw", sampleRateHz: 8_000 }],
    ["pcmu", "8000", { encoding: "mulaw", sampleRateHz: 8_000 }],
    ["PCMA", 8000, { encoding: "alaw", sampleRateHz: 8_000 }],
    ["L16", 16_000, { encoding: "pcm-network", sampleRateHz: 16_000 }],
    ["L16", "8000", { encoding: "pcm-network", sampleRateHz: 8_000 }],
    ["L16", 24_000, { encoding: "pcm-network", sampleRateHz: 24_000 }],
    ["L16", undefined, { encoding: "pcm-network", sampleRateHz: 8_000 }],
  ];
  for (const [encoding, sample_rate, expected] of received) {
    const stream = open({ media_format: { encoding, sample_rate, channels: 1 } });
    assert.deepEqual(stream.receives, expected, `${encoding} ${sample_rate}`);
    assert.deepEqual(
      stream.sends,
      { encoding: "mulaw", sampleRateHz: 8_000 },
      "what we send is not negotiated",
    );
    assert.equal(stream.callData.outboundEncoding, encoding);
  }
});

test("what we send follows the address", () => {
  const sends = (query: string): WireFormat => open({}, query).sends;
  assert.deepEqual(sends("bidirectionalCodec=PCMA"), { encoding: "alaw", sampleRateHz: 8_000 });
  assert.deepEqual(sends("bidirectionalCodec=L16"), { encoding: "pcm-network", sampleRateHz: 8_000 });
  assert.deepEqual(sends("bidirectionalCodec=L16&bidirectionalSamplingRate=24000"), {
    encoding: "pcm-network",
    sampleRateHz: 24_000,
  });
});

test("a codec we cannot speak is refused with the remedy", () => {
  const refusal = (error: unknown): boolean => {
    assert.ok(error instanceof CarrierError);
    assert.match(error.message, /G722.*codec="PCMU"/);
    return true;
  };
  assert.throws(() => open({ media_format: { encoding: "G722", sample_rate: 16_000 } }), refusal);
  assert.throws(() => open({}, "bidirectionalCodec=G722"), refusal);
  for (const encoding of ["OPUS", "AMR-WB", "é".repeat(5_000)])
    assert.throws(() => open({ media_format: { encoding } }), CarrierError);
});

test("what is not a start of a Telnyx call opens nothing", () => {
  const others: CarrierMessage[] = [
    {},
    { event: "connected", version: "1.0.0" },
    { ...start(), stream_id: undefined },
    { ...start(), start: undefined },
    start({ call_control_id: "" }),
    start({ call_control_id: "." }),
    start({ call_control_id: ".." }),
    start({ call_control_id: "\udfff" }),
    start({ call_control_id: "v3:".padEnd(257, "x") }),
  ];
  for (const other of others) assert.equal(telnyx.open(other, new URLSearchParams()), undefined);
});

test("every message of Telnyx is understood, media with its place", () => {
  const media = (fields: object): CarrierMessage => ({
    event: "media",
    sequence_number: "4",
    stream_id: "32de0dea",
    media: { track: "inbound", chunk: "2", timestamp: "5", payload: "//8=", ...fields },
  });
  check({ event: "connected", version: "1.0.0" }, undefined);
  check(media({}), { type: "media", payload: "//8=", chunk: 2 });
  check(media({ chunk: 17 }), { type: "media", payload: "//8=", chunk: 17 });
  check(media({ chunk: undefined }), { type: "media", payload: "//8=" });
  check(media({ chunk: "second" }), { type: "media", payload: "//8=" });
  check(media({ chunk: "" }), { type: "media", payload: "//8=" });
  check(media({ track: "outbound" }), undefined);
  check(
    { event: "dtmf", occurred_at: "2024-01-01T00:00:00Z", dtmf: { digit: "*" } },
    { type: "dtmf", key: "*" },
  );
  check({ event: "mark", sequence_number: "6", mark: { name: "x" } }, { type: "mark", name: "x" });
  check({ event: "stop", stop: { user_id: "u", call_control_id: "v3:abc" } }, { type: "stop" });
  check(
    { event: "error", payload: { code: 100003, title: "malformed_frame", detail: "not base64" } },
    { type: "problem", text: "100003 malformed_frame not base64" },
  );
  check({ event: "error", payload: { code: "100005" } }, { type: "problem", text: "100005" });
  check({ event: "error" }, { type: "problem", text: "" });
});

test("a problem is told in one short line, whatever its fields are", () => {
  const poison = { toString: 1, valueOf: 1 };
  check(
    { event: "error", payload: { code: poison, title: [poison], detail: null } },
    { type: "problem", text: "" },
  );
  const event = open().read({
    event: "error",
    payload: { code: 1, title: "x", detail: "y".repeat(900_000) },
  });
  assert.ok(event?.type === "problem" && event.text.length <= 300, "fits a log line");
});

test("we speak as Telnyx wants it: without a stream id", () => {
  const stream = open();
  assert.deepEqual(JSON.parse(stream.media("//8=")), { event: "media", media: { payload: "//8=" } });
  assert.deepEqual(JSON.parse(stream.mark("x")), { event: "mark", mark: { name: "x" } });
  assert.deepEqual(JSON.parse(stream.clear()), { event: "clear" });
});

function start(fields: object = {}): CarrierMessage {
  return {
    event: "start",
    sequence_number: "1",
    stream_id: "32de0dea",
    start: {
      user_id: "u",
      call_control_id: "v3:abc-_=",
      call_session_id: "s",
      from: "+14158675309",
      to: "+18005551212",
      tags: [],
      client_state: "aGF2ZQ==",
      custom_parameters: { agent: "greeter" },
      media_format: { encoding: "PCMU", sample_rate: 8000, channels: 1 },
      ...fields,
    },
  };
}

function open(fields: object = {}, query = ""): Stream {
  const stream = telnyx.open(start(fields), new URLSearchParams(query));
  assert.ok(stream);
  return stream;
}

function check(message: CarrierMessage, expected: CarrierEvent | undefined): void {
  assert.deepEqual(open().read(message), expected, JSON.stringify(message));
}
