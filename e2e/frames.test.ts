import { ProtobufFrameSerializer } from "@pipecat-ai/websocket-transport";
import { encodeFrame, parseFrame } from "@vocalhost/protocol";
import fc from "fast-check";
import assert from "node:assert/strict";
import { test } from "node:test";

// The other implementation: generated code inside the released client.
const client = new ProtobufFrameSerializer();

const samples = fc.int16Array({ maxLength: 600 });
const message = fc.record(
  { label: fc.constant("rtvi-ai"), type: fc.string(), data: fc.jsonValue() },
  { noNullPrototype: true },
);

test("we read the released client's frames, and would write the same bytes", () => {
  fc.assert(
    fc.property(samples, fc.nat(96_000), fc.nat(8), (pcm, sampleRateHz, channels) => {
      const bytes = client.serializeAudio(pcm.slice().buffer, sampleRateHz, channels);
      const frame = parseFrame(bytes);
      assert.ok(frame.kind === "audio");
      assert.deepEqual(new Uint8Array(frame.audio), new Uint8Array(pcm.slice().buffer));
      assert.deepEqual([frame.sampleRateHz, frame.channels, frame.name], [sampleRateHz, channels, "audio"]);
      assert.deepEqual(Buffer.from(encodeFrame(frame)), Buffer.from(bytes));
    }),
  );
  fc.assert(
    fc.property(message, (content) => {
      const bytes = client.serializeMessage(content as never);
      const frame = parseFrame(bytes);
      assert.ok(frame.kind === "message");
      assert.equal(frame.data, JSON.stringify(content));
      assert.deepEqual(Buffer.from(encodeFrame(frame)), Buffer.from(bytes));
    }),
  );
});

test("the released client reads our frames", async () => {
  await fc.assert(
    fc.asyncProperty(samples, async (pcm) => {
      const audio = new Uint8Array(pcm.slice().buffer);
      const frame = {
        kind: "audio",
        id: 0,
        name: "audio",
        audio,
        sampleRateHz: 24_000,
        channels: 1,
      } as const;
      const read = await client.deserialize(new Blob([encodeFrame(frame)]));
      assert.deepEqual(read, { type: "audio", audio: pcm });
    }),
  );
  await fc.assert(
    fc.asyncProperty(message, async (content) => {
      const bytes = encodeFrame({ kind: "message", data: JSON.stringify(content) });
      const read = await client.deserialize(new Blob([bytes]));
      assert.deepEqual(read, { type: "message", message: JSON.parse(JSON.stringify(content)) as unknown });
    }),
  );
});
