import assert from "node:assert/strict";
import { test } from "node:test";
import type { Problem } from "../problem.ts";
import { readStreamInstructions, type StreamInstructions } from "./stream-instructions.ts";

type Named = "twilio" | "telnyx" | "plivo";

function read(carrier: Named, inside: string): StreamInstructions {
  return readStreamInstructions(`<?xml version="1.0"?><Response>${inside}</Response>`, {
    name: carrier,
    ...(carrier === "telnyx" ? { uplink: { codec: "PCMA", sampleRateHz: 8000 } } : {}),
  });
}

test("Twilio: address without query, parameters", () => {
  const told = read(
    "twilio",
    `<Say>Hi</Say><Connect><Stream url="wss://h/ws?x=1"><Parameter name="k" value="v &amp; w"/></Stream></Connect>`,
  );
  assert.equal(told.url, "wss://h/ws");
  assert.deepEqual(told.parameters, { k: "v & w" });
  assert.deepEqual(told.carrier, { name: "twilio" });
  assert.match(told.remarks.join(), /drops the query/);
});

test("Telnyx: codecs of both directions", () => {
  const stream = (attributes: string): StreamInstructions["carrier"] =>
    read("telnyx", `<Connect><Stream url="wss://h/ws?x=1" ${attributes}/></Connect>`).carrier;
  const table: [string, StreamInstructions["carrier"]][] = [
    [
      'bidirectionalMode="rtp"',
      {
        name: "telnyx",
        uplink: { codec: "PCMA", sampleRateHz: 8000 },
        downlink: { codec: "PCMU", sampleRateHz: 8000 },
        bidirectionalMode: "rtp",
      },
    ],
    [
      'bidirectionalMode="rtp" codec="PCMU" bidirectionalCodec="L16" bidirectionalSamplingRate="16000"',
      {
        name: "telnyx",
        uplink: { codec: "PCMU", sampleRateHz: 8000 },
        downlink: { codec: "L16", sampleRateHz: 16_000 },
        bidirectionalMode: "rtp",
      },
    ],
    [
      "",
      {
        name: "telnyx",
        uplink: { codec: "PCMA", sampleRateHz: 8000 },
        downlink: { codec: "PCMU", sampleRateHz: 8000 },
        bidirectionalMode: "mp3",
      },
    ],
  ];
  for (const [attributes, carrier] of table) assert.deepEqual(stream(attributes), carrier, attributes);
  assert.match(read("telnyx", `<Connect><Stream url="wss://h/"/></Connect>`).remarks.join(), /MP3/);
  assert.throws(() => stream('codec="G722"'), /"G722" cannot be simulated/);
});

test("Plivo: address as text, content type, headers", () => {
  const attributes = 'bidirectional="true" keepCallAlive="true" contentType="audio/x-l16;rate=16000"';
  const told = read(
    "plivo",
    `<Stream ${attributes} extraHeaders="a=1, b=2=3">wss://h/ws?a=1&amp;b=2</Stream>`,
  );
  assert.deepEqual(told, {
    url: "wss://h/ws?a=1&b=2",
    parameters: { a: "1", b: "2=3" },
    carrier: { name: "plivo", format: { contentType: "audio/x-l16", sampleRateHz: 16_000 } },
    remarks: [],
  });
});

test("instructions a carrier could not follow are refused with the reason", () => {
  const stream = '<Stream url="wss://h/ws"/>';
  const table: [Named, string, RegExp][] = [
    ["twilio", "<Say>Hello</Say>", /no <Connect><Stream>/],
    ["twilio", "", /no <Connect><Stream>/],
    ["twilio", `<Start>${stream}</Start>`, /one-way/],
    ["twilio", "<Connect><Stream/></Connect>", /no usable address/],
    ["twilio", '<Connect><Stream url="https://h/ws"/></Connect>', /no usable address/],
    [
      "twilio",
      `<Connect><Stream url="wss://h/"><Parameter name="k" value="${"v".repeat(500)}"/></Stream></Connect>`,
      /too long/,
    ],
    ["plivo", `<Connect>${stream}</Connect>`, /no <Stream>/],
    ["plivo", "<Stream>wss://h/</Stream>", /one-way/],
    ["plivo", '<Stream bidirectional="true">wss://h/</Stream>', /contentType/],
    [
      "plivo",
      '<Stream bidirectional="true" contentType="audio/mp3;rate=8000">wss://h/</Stream>',
      /contentType/,
    ],
  ];
  for (const [carrier, inside, message] of table) {
    assert.throws(
      () => read(carrier, inside),
      (error: Problem) => error.code === "webhook_answer" && message.test(error.message),
      inside,
    );
  }
  const input = { name: "twilio" } as const;
  assert.throws(() => readStreamInstructions("<html>", input), /not XML/);
  assert.throws(() => readStreamInstructions("<Html/>", input), /starts with <Html>/);
});
