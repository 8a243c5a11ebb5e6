import assert from "node:assert/strict";
import { test } from "node:test";
import { createTelnyx, type TelnyxOptions } from "./telnyx.ts";

const details = {
  ids: { callId: "v3:1", streamId: "32de0dea", accountId: "user", sessionId: "session" },
  from: "+1",
  to: "+2",
  parameters: {},
};

test("a call from connected to stop, with the codec of the line", () => {
  const telnyx = createTelnyx(details, {
    uplink: { codec: "PCMA", sampleRateHz: 8000 },
    clientState: "aGF2",
  });
  const at = { streamMs: 5, epochMs: Date.UTC(2024, 0, 2) };
  const said = [
    ...telnyx.opening(),
    telnyx.media(new Int16Array(2), at),
    telnyx.digit("#", at),
    telnyx.marked("x"),
    telnyx.stop() ?? "",
  ].map((text) => JSON.parse(text) as unknown);
  assert.deepEqual(said, [
    { event: "connected", version: "1.0.0" },
    {
      event: "start",
      sequence_number: "1",
      stream_id: "32de0dea",
      start: {
        user_id: "user",
        call_control_id: "v3:1",
        call_session_id: "session",
        from: "+1",
        to: "+2",
        tags: [],
        client_state: "aGF2",
        custom_parameters: {},
        media_format: { encoding: "PCMA", sample_rate: 8000, channels: 1 },
      },
    },
    {
      event: "media",
      sequence_number: "2",
      stream_id: "32de0dea",
      media: { track: "inbound", chunk: "1", timestamp: "5", payload: "1dU=" },
    },
    {
      event: "dtmf",
      sequence_number: "3",
      stream_id: "32de0dea",
      occurred_at: "2024-01-02T00:00:00.000Z",
      dtmf: { digit: "#" },
    },
    { event: "mark", sequence_number: "4", stream_id: "32de0dea", mark: { name: "x" } },
    {
      event: "stop",
      sequence_number: "5",
      stream_id: "32de0dea",
      stop: { user_id: "user", call_control_id: "v3:1" },
    },
  ]);
});

test("L16 is in network order, both ways", () => {
  const format = { codec: "L16", sampleRateHz: 16_000 } as const;
  const telnyx = createTelnyx(details, { uplink: format, downlink: format });
  const { media } = JSON.parse(telnyx.media(Int16Array.of(1), { streamMs: 0, epochMs: 0 })) as {
    media: { payload: string };
  };
  assert.deepEqual([...Buffer.from(media.payload, "base64")], [0, 1]);
  const bytes = Buffer.alloc(640);
  bytes.writeInt16BE(-2, 0);
  const { request } = telnyx.read(mediaMessage(bytes));
  assert.ok(request?.type === "play");
  assert.equal(request.samples[0], -2);
});

test("a message holds 20 ms to 30 s of what was agreed on", () => {
  const table: [TelnyxOptions, Buffer, string | undefined][] = [
    [{}, Buffer.alloc(160), undefined],
    [{}, Buffer.alloc(240_000), undefined],
    [{}, Buffer.alloc(159), "bad-size"],
    [{}, Buffer.alloc(240_001), "bad-size"],
    [{ downlink: { codec: "L16", sampleRateHz: 8000 } }, Buffer.alloc(321), "bad-size"],
    [{ bidirectionalMode: "mp3" }, Buffer.alloc(160), "wrong-format"],
  ];
  for (const [options, bytes, code] of table) {
    const { violations } = createTelnyx(details, options).read(mediaMessage(bytes));
    assert.equal(violations[0]?.code, code);
  }
});

test("mistakes are answered with an error frame", () => {
  const telnyx = createTelnyx(details);
  const table: [string, number, string][] = [
    ["{", 100_003, "malformed_frame"],
    ['{"event":"hello"}', 100_003, "malformed_frame"],
    ['{"event":"media","media":{"payload":"?"}}', 100_004, "invalid_media"],
  ];
  for (const [text, code, title] of table) {
    const answer = JSON.parse(telnyx.complaint(telnyx.read(text)) ?? "") as Record<string, unknown>;
    assert.equal(answer["event"], "error");
    assert.equal(answer["stream_id"], "32de0dea");
    const { detail, ...payload } = answer["payload"] as Record<string, unknown>;
    assert.deepEqual(payload, { code, title });
    assert.equal(typeof detail, "string");
  }
  assert.equal(telnyx.complaint(telnyx.read('{"event":"clear"}')), undefined);
});

test("the bot need not name the stream", () => {
  const { read } = createTelnyx(details);
  assert.deepEqual(read('{"event":"mark","mark":{"name":"x"}}').request, { type: "mark", name: "x" });
  assert.deepEqual(read('{"event":"clear"}').request, { type: "clear" });
});

function mediaMessage(bytes: Buffer): string {
  return JSON.stringify({ event: "media", media: { payload: bytes.toString("base64") } });
}
