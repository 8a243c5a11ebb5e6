import assert from "node:assert/strict";
import { test } from "node:test";
import { CarrierError, type CarrierEvent, type CarrierMessage, type Stream } from "./carrier.ts";
import { plivo } from "./plivo.ts";

test("a start opens a call", () => {
  const stream = open();
  assert.deepEqual(stream.callData, {
    streamId: "20170f",
    callId: "5b2a-77",
    from: null,
    to: null,
    body: {},
  });
  assert.deepEqual(stream.receives, { encoding: "mulaw", sampleRateHz: 8_000 });
  assert.deepEqual(stream.sends, stream.receives);
  assert.equal(stream.chunkMs, 40);
  assert.equal(stream.acknowledgesMarks, true);
});

test("what the webhook passed on arrives in either form", () => {
  const passedOn = (extra_headers: unknown): unknown => {
    const { from, to, body } = open({}, { extra_headers }).callData;
    return { from, to, body };
  };
  const expected = {
    from: "14158675309",
    to: "18005551212",
    body: { from: "14158675309", to: "18005551212" },
  };
  const nothing = { from: null, to: null, body: {} };
  assert.deepEqual(passedOn("from=14158675309,to=18005551212"), expected);
  assert.deepEqual(passedOn(" from = 14158675309 ; to = 18005551212 "), expected);
  assert.deepEqual(passedOn('{"from":"14158675309","to":18005551212}'), expected);
  assert.deepEqual(passedOn('{"from":"14158675309","to":"18005551212"}'), expected);
  assert.deepEqual(passedOn({ from: "14158675309", to: "18005551212" }), expected);
  for (const none of ["{}", "", undefined, null, 5, [], "{broken", "novalue", "=x", "[1]"])
    assert.deepEqual(passedOn(none), nothing, JSON.stringify(none));
  assert.deepEqual(passedOn("a=b=c"), { from: null, to: null, body: { a: "b=c" } });
});

test("values that have no text are left out", () => {
  const poison = '{"from":{"toString":1,"valueOf":1},"to":[[1]],"deep":null,"flag":true,"name":"n"}';
  assert.deepEqual(open({}, { extra_headers: poison }).callData.body, { flag: "true", name: "n" });
});

test("linear audio is taken at both rates, the rate as number, text or part of the type", () => {
  const pcm = (sampleRateHz: number): object => ({ encoding: "pcm", sampleRateHz });
  const of = (mediaFormat: object): object => {
    const { receives, sends } = open({ mediaFormat });
    assert.deepEqual(sends, receives, "both ways are alike");
    return receives;
  };
  assert.deepEqual(of({ encoding: "audio/x-l16", sampleRate: 16_000 }), pcm(16_000));
  assert.deepEqual(of({ encoding: "audio/x-l16", sampleRate: "8000" }), pcm(8_000));
  assert.deepEqual(of({ encoding: "audio/x-l16" }), pcm(8_000));
  assert.deepEqual(of({ encoding: "audio/x-l16;rate=16000" }), pcm(16_000));
  assert.deepEqual(of({ encoding: "audio/x-mulaw;rate=8000" }), { encoding: "mulaw", sampleRateHz: 8_000 });
  assert.deepEqual(of({}), { encoding: "mulaw", sampleRateHz: 8_000 });
  const { media } = open({ mediaFormat: { encoding: "audio/x-l16;rate=16000", sampleRate: 16_000 } });
  assert.deepEqual(JSON.parse(media("AAA=")).media, {
    contentType: "audio/x-l16",
    sampleRate: 16_000,
    payload: "AAA=",
  });
});

test("audio we cannot speak is refused with the remedy", () => {
  for (const mediaFormat of [{ encoding: "audio/opus" }, { encoding: "audio/x-l16", sampleRate: 48_000 }])
    assert.throws(
      () => open({ mediaFormat }),
      (error) =>
        error instanceof CarrierError && /contentType="audio\/x-mulaw;rate=8000"/.test(error.message),
    );
});

test("what is not a start of a Plivo call opens nothing", () => {
  const others: CarrierMessage[] = [
    {},
    { event: "connected" },
    { ...start(), start: undefined },
    start({ streamId: undefined }),
    start({ callId: "" }),
    start({ callId: 7 }),
    start({ callId: "." }), // would end every call of the account
    start({ callId: ".." }),
    start({ callId: "a\ud800" }),
    start({ callId: "x".repeat(257) }),
  ];
  for (const other of others) assert.equal(plivo.open(other, new URLSearchParams()), undefined);
});

test("every message of Plivo is understood, numbers as numbers or as text", () => {
  const media = (fields: object): CarrierMessage => ({
    sequenceNumber: 1,
    streamId: "20170f",
    event: "media",
    media: { track: "inbound", timestamp: "1709123456789", chunk: 1, payload: "//8=", ...fields },
    extra_headers: "{}",
  });
  check(media({}), { type: "media", payload: "//8=" });
  check(media({ chunk: "1" }), { type: "media", payload: "//8=" });
  check(media({ track: "outbound" }), undefined);
  check(
    { event: "dtmf", sequenceNumber: 10, dtmf: { track: "inbound", digit: "1" } },
    { type: "dtmf", key: "1" },
  );
  check({ event: "playedStream", streamId: "20170f", name: "0:960" }, { type: "mark", name: "0:960" });
  check({ event: "playedStream", streamId: "20170f" }, undefined);
  check({ sequenceNumber: 0, event: "clearedAudio", streamId: "20170f" }, undefined);
  check({ event: "stop" }, { type: "stop" });
});

test("we speak as Plivo wants it", () => {
  const stream = open();
  assert.deepEqual(JSON.parse(stream.media("//8=")), {
    event: "playAudio",
    streamId: "20170f",
    media: { contentType: "audio/x-mulaw", sampleRate: 8000, payload: "//8=" },
  });
  assert.deepEqual(JSON.parse(stream.mark("0:960")), {
    event: "checkpoint",
    streamId: "20170f",
    name: "0:960",
  });
  assert.deepEqual(JSON.parse(stream.clear()), { event: "clearAudio", streamId: "20170f" });
});

function start(fields: object = {}, top: object = {}): CarrierMessage {
  return {
    sequenceNumber: 0,
    event: "start",
    start: {
      callId: "5b2a-77",
      streamId: "20170f",
      accountId: "MA",
      tracks: ["inbound"],
      mediaFormat: { encoding: "audio/x-mulaw", sampleRate: 8000 },
      ...fields,
    },
    extra_headers: "{}",
    ...top,
  };
}

function open(fields: object = {}, top: object = {}): Stream {
  const stream = plivo.open(start(fields, top), new URLSearchParams());
  assert.ok(stream);
  return stream;
}

function check(message: CarrierMessage, expected: CarrierEvent | undefined): void {
  assert.deepEqual(open().read(message), expected, JSON.stringify(message));
}
