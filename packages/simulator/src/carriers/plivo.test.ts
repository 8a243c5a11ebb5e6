import assert from "node:assert/strict";
import { test } from "node:test";
import { createPlivo } from "./plivo.ts";

const details = {
  ids: { callId: "5b2a", streamId: "20170f", accountId: "MA1", sessionId: "" },
  from: "+1",
  to: "+2",
  parameters: {},
};

test("a call begins with start, numbers are numbers, and nothing is said at the end", () => {
  const plivo = createPlivo(details);
  const at = { streamMs: 20, epochMs: 1_709_123_456_789 };
  const said = [...plivo.opening(), plivo.media(new Int16Array(1), at), plivo.digit("1", at)].map(
    (text) => JSON.parse(text) as unknown,
  );
  assert.deepEqual(said, [
    {
      sequenceNumber: 0,
      event: "start",
      start: {
        callId: "5b2a",
        streamId: "20170f",
        accountId: "MA1",
        tracks: ["inbound"],
        mediaFormat: { encoding: "audio/x-mulaw", sampleRate: 8000 },
      },
      extra_headers: "{}",
    },
    {
      sequenceNumber: 1,
      streamId: "20170f",
      event: "media",
      media: { track: "inbound", timestamp: "1709123456789", chunk: 1, payload: "/w==" },
      extra_headers: "{}",
    },
    {
      sequenceNumber: 2,
      streamId: "20170f",
      event: "dtmf",
      dtmf: { track: "inbound", digit: "1", timestamp: "1709123456789" },
      extra_headers: "{}",
    },
  ]);
  assert.equal(plivo.stop(), undefined);
});

test("answers to checkpoint and clear", () => {
  const plivo = createPlivo(details);
  assert.deepEqual(JSON.parse(plivo.marked("checkpoint-1")), {
    event: "playedStream",
    streamId: "20170f",
    name: "checkpoint-1",
  });
  assert.deepEqual(JSON.parse(plivo.cleared() ?? ""), {
    sequenceNumber: 0,
    event: "clearedAudio",
    streamId: "20170f",
  });
  assert.equal(plivo.returnsClearedMarks, false);
});

test("parameters arrive as one text", () => {
  const plivo = createPlivo({ ...details, parameters: { userId: "12", room: "a" } });
  const [start] = plivo.opening();
  assert.equal((JSON.parse(start ?? "") as { extra_headers: string }).extra_headers, "userId=12;room=a");
});

test("reads what the bot may say", () => {
  const { read } = createPlivo(details);
  const media = { contentType: "audio/x-mulaw", sampleRate: 8000, payload: "/w==" };
  const play = { type: "play", samples: Int16Array.of(0) };
  const table = [
    [{ event: "playAudio", media }, play],
    [{ event: "playAudio", streamId: "20170f", media }, play],
    [
      { event: "checkpoint", streamId: "20170f", name: "x" },
      { type: "mark", name: "x" },
    ],
    [{ event: "clearAudio", streamId: "20170f" }, { type: "clear" }],
    [
      { event: "sendDTMF", dtmf: "12#D" },
      { type: "press", digits: "12#D" },
    ],
  ] as const;
  for (const [message, request] of table)
    assert.deepEqual(read(JSON.stringify(message)), { request, violations: [] });
});

test("refuses audio that is not the stream's", () => {
  const { read } = createPlivo(details, { format: { contentType: "audio/x-l16", sampleRateHz: 16_000 } });
  const right = { contentType: "audio/x-l16", sampleRate: 16_000, payload: "AAA=" };
  const table = [
    [{ media: right }, undefined],
    [{ media: { ...right, contentType: "audio/x-mulaw" } }, "wrong-format"],
    [{ media: { ...right, contentType: "audio/x-l16;rate=16000" } }, "wrong-format"],
    [{ media: { ...right, sampleRate: 8000 } }, "wrong-format"],
    [{ media: { ...right, sampleRate: "16000" } }, "wrong-format"],
    [{ media: { ...right, sampleRate: undefined } }, "wrong-format"],
    [{ media: { sampleRate: 16_000, payload: "AAA=" } }, "missing-field"],
    [{ media: right, streamId: "other" }, "wrong-stream"],
  ] as const;
  for (const [message, code] of table) {
    const { violations, request } = read(JSON.stringify({ event: "playAudio", ...message }));
    assert.equal(violations[0]?.code, code);
    assert.equal(request === undefined, code !== undefined);
  }
});

test("control messages need the right stream, keys must exist", () => {
  const { read } = createPlivo(details);
  const table = [
    [{ event: "checkpoint", name: "x" }, "wrong-stream"],
    [{ event: "clearAudio" }, "wrong-stream"],
    [{ event: "checkpoint", streamId: "20170f" }, "missing-field"],
    [{ event: "sendDTMF", dtmf: "1a" }, "bad-digits"],
    [{ event: "sendDTMF" }, "missing-field"],
    [{ event: "media" }, "unknown-event"],
  ] as const;
  for (const [message, code] of table) assert.equal(read(JSON.stringify(message)).violations[0]?.code, code);
});
