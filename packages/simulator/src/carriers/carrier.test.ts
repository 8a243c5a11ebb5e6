// Tests the behaviour all carriers share; the messages of each are tested beside its file.
import { carrierNames, type CarrierName } from "@vocalhost/protocol";
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { CallDetails, Carrier } from "./carrier.ts";
import { createCarrier, newCallIds, type CarrierChoice } from "./create-carrier.ts";

const CHOICES: CarrierChoice[] = [
  { name: "twilio" },
  { name: "telnyx" },
  { name: "telnyx", uplink: { codec: "PCMA", sampleRateHz: 8000 } },
  { name: "telnyx", downlink: { codec: "L16", sampleRateHz: 16_000 } },
  { name: "telnyx", bidirectionalMode: "mp3" },
  { name: "plivo" },
  { name: "plivo", format: { contentType: "audio/x-l16", sampleRateHz: 16_000 } },
  { name: "exotel" },
  { name: "exotel", sampleRateHz: 24_000 },
];

test("reading never throws, whatever the bot sends", () => {
  const events = fc.constantFrom(
    ...["media", "mark", "clear", "playAudio", "checkpoint", "clearAudio", "sendDTMF", "start", "stop"],
  );
  const almostRight = fc.record(
    {
      event: fc.oneof(events, fc.anything()),
      streamSid: fc.anything(),
      stream_sid: fc.anything(),
      streamId: fc.anything(),
      media: fc.oneof(
        fc.anything(),
        fc.record({ payload: fc.oneof(fc.base64String(), fc.string(), fc.anything()) }),
      ),
      mark: fc.oneof(fc.anything(), fc.record({ name: fc.anything() })),
      name: fc.anything(),
      dtmf: fc.anything(),
    },
    { requiredKeys: [] },
  );
  const anything = fc.oneof(fc.string(), fc.json(), almostRight.map(asJson));
  for (const choice of CHOICES) {
    const carrier = carrierOf(choice);
    fc.assert(
      fc.property(anything, (text) => {
        const message = carrier.read(text);
        assert.ok(message.request || message.violations.length > 0);
        assert.equal(typeof (carrier.complaint(message) ?? ""), "string");
      }),
    );
  }
});

test("what is no message of a bot is a violation and does nothing", () => {
  const table: [string, string][] = [
    ["", "malformed-message"],
    ["hello", "malformed-message"],
    ["[]", "malformed-message"],
    ["null", "malformed-message"],
    ["{}", "malformed-message"],
    ['{"event":1}', "malformed-message"],
    ['{"event":"rtvi-ai"}', "unknown-event"],
    ['{"event":"start"}', "unknown-event"],
    [`{"event":"${"x".repeat(500)}"}`, "unknown-event"],
    ["[".repeat(100_000), "malformed-message"],
  ];
  for (const choice of CHOICES) {
    for (const [text, code] of table) {
      const { request, violations } = carrierOf(choice).read(text);
      assert.equal(request, undefined);
      assert.deepEqual(
        violations.map((violation) => violation.code),
        [code],
        text.slice(0, 40),
      );
      assert.ok(violations.every(({ detail }) => detail.length < 150));
    }
  }
});

test("a chunk of sound is as many bytes as its encoding takes", () => {
  const chunk = Int16Array.from({ length: 1600 }, (_, i) => Math.round(8000 * Math.sin(i / 7)));
  for (const choice of CHOICES) {
    const carrier = carrierOf(choice);
    const message = JSON.parse(carrier.media(chunk, { streamMs: 0, epochMs: 0 })) as {
      media: { payload: string };
    };
    const bytesEach = carrier.uplink.encoding.startsWith("s16") ? 2 : 1;
    assert.equal(Buffer.from(message.media.payload, "base64").length, chunk.length * bytesEach);
  }
});

test("all messages of a carrier are JSON objects with an event", () => {
  for (const choice of CHOICES) {
    const carrier = carrierOf(choice);
    const at = { streamMs: 20, epochMs: 1_700_000_000_000 };
    const messages = [
      ...carrier.opening(),
      carrier.media(new Int16Array(160), at),
      carrier.digit("1", at),
      carrier.marked("x"),
      carrier.cleared(),
      carrier.stop(),
    ].filter((text) => text !== undefined);
    for (const text of messages)
      assert.equal(typeof (JSON.parse(text) as { event: unknown }).event, "string");
  }
});

test("rates a carrier does not have are refused", () => {
  const wrong: CarrierChoice[] = [
    { name: "telnyx", uplink: { codec: "PCMU", sampleRateHz: 16_000 } },
    { name: "telnyx", downlink: { codec: "L16", sampleRateHz: 44_100 } },
    { name: "plivo", format: { contentType: "audio/x-mulaw", sampleRateHz: 16_000 } },
    { name: "plivo", format: { contentType: "audio/x-l16", sampleRateHz: 24_000 } },
    { name: "exotel", sampleRateHz: 44_100 },
  ];
  for (const choice of wrong) assert.throws(() => carrierOf(choice), RangeError);
});

test("ids have each carrier's shape and are new every time", () => {
  const uuid = "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}";
  const shapes: Record<CarrierName, { callId: string; streamId: string; accountId: string }> = {
    twilio: { callId: "CA[0-9a-f]{32}", streamId: "MZ[0-9a-f]{32}", accountId: "AC[0-9a-f]{32}" },
    telnyx: { callId: "v3:[\\w-]{51}", streamId: uuid, accountId: uuid },
    plivo: { callId: uuid, streamId: uuid, accountId: "MA[0-9A-F]{18}" },
    exotel: { callId: "[0-9a-f]{32}", streamId: "[0-9a-f]{32}", accountId: "simulated1" },
  };
  for (const name of carrierNames) {
    const ids = newCallIds(name);
    for (const [key, shape] of Object.entries(shapes[name]))
      assert.match(ids[key as "callId"], new RegExp(`^${shape}$`), `${name} ${key}`);
    assert.notEqual(newCallIds(name).callId, ids.callId);
  }
});

function carrierOf(choice: CarrierChoice): Carrier {
  const details: CallDetails = {
    ids: { callId: "call", streamId: "stream", accountId: "account", sessionId: "session" },
    from: "+1",
    to: "+2",
    parameters: {},
  };
  return createCarrier(choice, details);
}

function asJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "";
  } catch {
    return "{}"; // fast-check also makes values JSON has no word for
  }
}
