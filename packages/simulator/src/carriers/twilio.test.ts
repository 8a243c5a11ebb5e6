import assert from "node:assert/strict";
import { test } from "node:test";
import { createTwilio } from "./twilio.ts";

const details = {
  ids: { callId: "CA1", streamId: "MZ1", accountId: "AC1", sessionId: "" },
  from: "+1",
  to: "+2",
  parameters: { from_number: "+1", to_number: "+2" },
};

test("a call from connected to stop, numbers as text", () => {
  const twilio = createTwilio(details);
  const at = { streamMs: 0, epochMs: 0 };
  const silence = new Int16Array(160);
  const payload = Buffer.alloc(160, 0xff).toString("base64");
  const said = [
    ...twilio.opening(),
    twilio.media(silence, at),
    twilio.media(silence, { ...at, streamMs: 20 }),
    twilio.digit("1", at),
    twilio.marked("greeting-end"),
    twilio.stop() ?? "",
  ].map((text) => JSON.parse(text) as unknown);
  assert.deepEqual(said, [
    { event: "connected", protocol: "Call", version: "1.0.0" },
    {
      event: "start",
      sequenceNumber: "1",
      streamSid: "MZ1",
      start: {
        streamSid: "MZ1",
        accountSid: "AC1",
        callSid: "CA1",
        tracks: ["inbound"],
        mediaFormat: { encoding: "audio/x-mulaw", sampleRate: 8000, channels: 1 },
        customParameters: { from_number: "+1", to_number: "+2" },
      },
    },
    {
      event: "media",
      sequenceNumber: "2",
      streamSid: "MZ1",
      media: { track: "inbound", chunk: "1", timestamp: "0", payload },
    },
    {
      event: "media",
      sequenceNumber: "3",
      streamSid: "MZ1",
      media: { track: "inbound", chunk: "2", timestamp: "20", payload },
    },
    {
      event: "dtmf",
      sequenceNumber: "4",
      streamSid: "MZ1",
      dtmf: { track: "inbound_track", digit: "1" },
    },
    { event: "mark", sequenceNumber: "5", streamSid: "MZ1", mark: { name: "greeting-end" } },
    {
      event: "stop",
      sequenceNumber: "6",
      streamSid: "MZ1",
      stop: { accountSid: "AC1", callSid: "CA1" },
    },
  ]);
  assert.equal(twilio.cleared(), undefined);
});

test("reads what the bot may say", () => {
  const { read } = createTwilio(details);
  const payload = Buffer.from([0xff, 0x80]).toString("base64");
  const table = [
    [
      { event: "media", streamSid: "MZ1", media: { payload } },
      { type: "play", samples: Int16Array.of(0, 32_124) },
    ],
    [
      { event: "mark", streamSid: "MZ1", mark: { name: "x" } },
      { type: "mark", name: "x" },
    ],
    [{ event: "clear", streamSid: "MZ1" }, { type: "clear" }],
  ] as const;
  for (const [message, request] of table)
    assert.deepEqual(read(JSON.stringify(message)), { request, violations: [] });
});

test("refuses what Twilio does not take", () => {
  const { read } = createTwilio(details);
  const table = [
    [{ event: "clear" }, "wrong-stream"],
    [{ event: "clear", streamSid: "MZ2" }, "wrong-stream"],
    [{ event: "media", streamSid: "MZ1" }, "missing-field"],
    [{ event: "media", streamSid: "MZ1", media: {} }, "missing-field"],
    [{ event: "media", streamSid: "MZ1", media: { payload: "" } }, "missing-field"],
    [{ event: "media", streamSid: "MZ1", media: { payload: "a-_=" } }, "bad-base64"],
    [{ event: "media", streamSid: "MZ1", media: { payload: "AAA" } }, "bad-base64"],
    [{ event: "mark", streamSid: "MZ1", mark: { name: 3 } }, "missing-field"],
    [{ event: "playAudio", streamSid: "MZ1" }, "unknown-event"],
  ] as const;
  for (const [message, code] of table) {
    const { request, violations } = read(JSON.stringify(message));
    assert.equal(request, undefined);
    assert.deepEqual(
      violations.map((violation) => violation.code),
      [code],
    );
  }
});
