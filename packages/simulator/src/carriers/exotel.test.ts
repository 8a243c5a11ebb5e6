import assert from "node:assert/strict";
import { test } from "node:test";
import { createExotel } from "./exotel.ts";

const details = {
  ids: { callId: "call", streamId: "stream", accountId: "account", sessionId: "" },
  from: "09",
  to: "08",
  parameters: { k: "v" },
};

test("a call from connected to stop, PCM and numbers as text", () => {
  const exotel = createExotel(details);
  const at = { streamMs: 100, epochMs: 0 };
  const said = [
    ...exotel.opening(),
    exotel.media(Int16Array.of(1, -2), at),
    exotel.digit("1", at),
    exotel.marked("x"),
    exotel.stop() ?? "",
  ].map((text) => JSON.parse(text) as unknown);
  assert.deepEqual(said, [
    { event: "connected" },
    {
      event: "start",
      sequence_number: "1",
      stream_sid: "stream",
      start: {
        stream_sid: "stream",
        call_sid: "call",
        account_sid: "account",
        from: "09",
        to: "08",
        custom_parameters: { k: "v" },
        media_format: { encoding: "base64", sample_rate: "8000", bit_rate: "128kbps" },
      },
    },
    {
      event: "media",
      sequence_number: "2",
      stream_sid: "stream",
      media: { chunk: "1", timestamp: "100", payload: Buffer.from([1, 0, 254, 255]).toString("base64") },
    },
    { event: "dtmf", sequence_number: "3", stream_sid: "stream", dtmf: { duration: "100", digit: "1" } },
    { event: "mark", sequence_number: "4", stream_sid: "stream", mark: { name: "x" } },
    {
      event: "stop",
      sequence_number: "5",
      stream_sid: "stream",
      stop: { call_sid: "call", account_sid: "account", reason: "callended" },
    },
  ]);
});

test("chunks of the bot: all of them play, and those of other sizes than documented are remarked on", () => {
  const { read } = createExotel(details);
  const table: [bytes: number, playedBytes: number, violations: number][] = [
    [3200, 3200, 0],
    [6400, 6400, 0],
    [102_400, 102_400, 0],
    [640, 640, 1],
    [3300, 3300, 1],
    [700, 700, 2],
    [319, 318, 2],
    [102_720, 102_720, 1],
  ];
  for (const [bytes, playedBytes, count] of table) {
    const media = { payload: Buffer.alloc(bytes).toString("base64") };
    const { request, violations } = read(JSON.stringify({ event: "media", stream_sid: "stream", media }));
    assert.equal(request?.type === "play" ? request.samples.length * 2 : undefined, playedBytes, `${bytes}`);
    assert.deepEqual(
      violations.map(({ code }) => code),
      Array.from({ length: count }, () => "bad-size"),
    );
  }
});

test("everything names the stream", () => {
  const { read } = createExotel(details);
  assert.deepEqual(read('{"event":"clear","stream_sid":"stream"}').request, { type: "clear" });
  assert.deepEqual(read('{"event":"mark","stream_sid":"stream","mark":{"name":"x"}}').request, {
    type: "mark",
    name: "x",
  });
  for (const event of ["clear", "mark", "media"])
    assert.equal(read(JSON.stringify({ event, streamSid: "stream" })).violations[0]?.code, "wrong-stream");
});
