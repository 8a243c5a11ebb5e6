import assert from "node:assert/strict";
import { test } from "node:test";
import type { CarrierEvent, CarrierMessage, Stream } from "./carrier.ts";
import { exotel } from "./exotel.ts";

test("a start opens a call", () => {
  const stream = open();
  assert.deepEqual(stream.callData, {
    streamId: "st-1",
    callId: "call-1",
    from: "09000000001",
    to: "08000000002",
    body: {},
    accountSid: "acc",
    customParameters: { k: "v" },
  });
  assert.deepEqual(stream.receives, { encoding: "pcm", sampleRateHz: 8_000 });
  assert.equal(stream.acknowledgesMarks, true);
});

test("the address sets the rate both ways, then the start, then 8 kHz", () => {
  const rate = (query: string, sample_rate?: unknown): number => {
    const stream = open({ media_format: { encoding: "base64", sample_rate } }, query);
    assert.deepEqual(stream.sends, stream.receives);
    return stream.receives.sampleRateHz;
  };
  assert.equal(rate("sample-rate=16000", "8000"), 16_000);
  assert.equal(rate("sample-rate=24000", "8000"), 24_000);
  assert.equal(rate("sample-rate=8000", "16000"), 8_000);
  assert.equal(rate("", "16000"), 16_000);
  assert.equal(rate("", 24_000), 24_000);
  assert.equal(rate(""), 8_000);
  for (const odd of ["sample-rate=44100", "sample-rate=", "sample-rate=-1", "sample-rate=fast"])
    assert.equal(rate(odd), 8_000, odd);
});

test("pieces are whole multiples of 320 bytes and at least 3,200, at any rate of the bot", () => {
  for (const query of ["", "sample-rate=16000", "sample-rate=24000"]) {
    const stream = open({}, query);
    assert.equal(stream.chunkMs % 20, 0, "the bot's samples divide evenly");
    assert.equal(stream.sends.encoding, "pcm");
    const bytes = (stream.chunkMs * stream.sends.sampleRateHz * 2) / 1_000;
    assert.equal(bytes % 320, 0, query);
    assert.ok(bytes >= 3_200 && bytes <= 100_000, query);
    assert.ok(stream.chunkMs <= 200, "longer pieces would delay the answer");
  }
});

test("what is not a start of an Exotel call opens nothing", () => {
  const others: CarrierMessage[] = [
    {},
    { event: "connected" },
    { ...start(), event: "media" },
    start({ account_sid: undefined }),
    start({ call_sid: "" }),
    start({ stream_sid: 5 }),
    start({ call_sid: "\ud800" }),
    start({ call_sid: "x".repeat(257) }),
  ];
  for (const other of others) assert.equal(exotel.open(other, new URLSearchParams()), undefined);
});

test("every message of Exotel is understood", () => {
  check({ event: "connected" }, undefined);
  check(
    { event: "media", sequence_number: "3", media: { chunk: "2", timestamp: "100", payload: "AAA=" } },
    { type: "media", payload: "AAA=" },
  );
  check({ event: "dtmf", dtmf: { duration: "100", digit: "1" } }, { type: "dtmf", key: "1" });
  check({ event: "mark", mark: { name: "x" } }, { type: "mark", name: "x" });
  for (const reason of ["stopped", "callended"])
    check({ event: "stop", stop: { call_sid: "call-1", account_sid: "acc", reason } }, { type: "stop" });
});

test("we speak as Exotel wants it", () => {
  const stream = open();
  const stream_sid = "st-1";
  assert.deepEqual(JSON.parse(stream.media("AAA=")), {
    event: "media",
    stream_sid,
    media: { payload: "AAA=" },
  });
  assert.deepEqual(JSON.parse(stream.mark("x")), { event: "mark", stream_sid, mark: { name: "x" } });
  assert.deepEqual(JSON.parse(stream.clear()), { event: "clear", stream_sid });
});

function start(fields: object = {}): CarrierMessage {
  return {
    event: "start",
    sequence_number: "1",
    stream_sid: "st-1",
    start: {
      stream_sid: "st-1",
      call_sid: "call-1",
      account_sid: "acc",
      from: "09000000001",
      to: "08000000002",
      custom_parameters: { k: "v" },
      media_format: { encoding: "base64", sample_rate: "8000", bit_rate: "128kbps" },
      ...fields,
    },
  };
}

function open(fields: object = {}, query = ""): Stream {
  const stream = exotel.open(start(fields), new URLSearchParams(query));
  assert.ok(stream);
  return stream;
}

function check(message: CarrierMessage, expected: CarrierEvent | undefined): void {
  assert.deepEqual(open().read(message), expected, JSON.stringify(message));
}
