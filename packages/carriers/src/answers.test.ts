import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "node:test";
import { readXml, type XmlElement } from "../../../testing/read-xml.ts";
import type { StreamAnswer } from "./carrier.ts";
import { carriers, type CarrierName } from "./carriers.ts";
import { exotel } from "./exotel.ts";
import { escapeXml } from "./xml.ts";

const URL_WITH_QUERY = "wss://bots.example.com/ws?a=1&b=2";

test("Twilio streams both ways and is given the numbers", () => {
  const connect = only(
    readXml(streamXml("twilio", { url: URL_WITH_QUERY, from: "+1415", to: "+1800" })),
    "Connect",
  );
  const stream = only(connect, "Stream");
  assert.deepEqual(stream.attributes, { url: URL_WITH_QUERY });
  assert.deepEqual(
    stream.children.map(({ name, attributes }) => [name, attributes]),
    [
      ["Parameter", { name: "from_number", value: "+1415" }],
      ["Parameter", { name: "to_number", value: "+1800" }],
    ],
  );
});

test("Telnyx is asked for raw audio", () => {
  const connect = only(
    readXml(streamXml("telnyx", { url: URL_WITH_QUERY, from: "+1", to: "+2" })),
    "Connect",
  );
  const stream = only(connect, "Stream");
  assert.deepEqual(stream.attributes, { url: URL_WITH_QUERY, bidirectionalMode: "rtp" });
  assert.deepEqual(stream.children, []);
});

test("Plivo finds the address in the text and is told not to hang up", () => {
  const stream = only(
    readXml(streamXml("plivo", { url: URL_WITH_QUERY, from: "+1415", to: "1800" })),
    "Stream",
  );
  assert.equal(stream.text, URL_WITH_QUERY);
  assert.deepEqual(stream.attributes, {
    bidirectional: "true",
    keepCallAlive: "true",
    contentType: "audio/x-mulaw;rate=8000",
    extraHeaders: "from=1415,to=1800",
  });
});

test("numbers that are not known are left out", () => {
  const answer = { url: "wss://x/ws", from: undefined, to: "" };
  assert.deepEqual(only(only(readXml(streamXml("twilio", answer)), "Connect"), "Stream").children, []);
  assert.equal(only(readXml(streamXml("plivo", answer)), "Stream").attributes["extraHeaders"], undefined);
});

test("Exotel gets its address under both names", () => {
  const answer = exotel.answerJson?.({ url: URL_WITH_QUERY, from: undefined, to: undefined });
  assert.equal(answer?.["url"], URL_WITH_QUERY);
  assert.equal(answer?.["websocket_url"], URL_WITH_QUERY);
});

const HOSTILE = [
  `"/><Redirect>https://evil.example/</Redirect><x y="`,
  `</Stream></Connect><Hangup/>`,
  `]]>&lt;`,
  `&#60;Dial&#62;`,
  `<!--`,
  `<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>&e;`,
  `'"<>&`,
  "\u0000\u0001\u001f\ufffe\uffff",
  "\ud800 alone",
  "+1 (415) 867-5309",
  "ünïcødé 📞",
];

test("no caller can add to the answer", () => {
  const hostile = fc.oneof(fc.constantFrom(...HOSTILE), fc.string({ unit: "binary" }), fc.string());
  fc.assert(
    fc.property(hostile, hostile, (from, to) => {
      const twilio = only(
        only(readXml(streamXml("twilio", { url: URL_WITH_QUERY, from, to })), "Connect"),
        "Stream",
      );
      for (const { name, attributes, children, text } of twilio.children) {
        assert.equal(name, "Parameter");
        assert.deepEqual(Object.keys(attributes), ["name", "value"]);
        assert.ok(attributes["name"]!.length + attributes["value"]!.length <= 500, "the carrier's limit");
        assert.deepEqual([children, text], [[], ""]);
      }
      const plivo = only(readXml(streamXml("plivo", { url: URL_WITH_QUERY, from, to })), "Stream");
      assert.equal(plivo.text, URL_WITH_QUERY);
      assert.deepEqual(plivo.children, []);
      const { extraHeaders = "" } = plivo.attributes;
      assert.match(extraHeaders, /^(?:from=[A-Za-z0-9]+)?,?(?:to=[A-Za-z0-9]+)?$/);
      assert.ok(Buffer.byteLength(extraHeaders) <= 512, "the carrier's limit");
    }),
    { numRuns: 500 },
  );
});

test("a long value is cut, but not through a character", () => {
  const from = "📞".repeat(600);
  const document = streamXml("twilio", { url: "wss://x/ws", from, to: undefined });
  const [parameter] = only(only(readXml(document), "Connect"), "Stream").children;
  assert.match(parameter!.attributes["value"]!, /^(?:📞)+$/u);
});

test("escaping keeps every character XML allows", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (text) => {
      const value = readXml(`<?xml version="1.0" encoding="UTF-8"?>\n<a>.${escapeXml(text)}.</a>`).text;
      const allowed = text.replace(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, "");
      assert.equal(value, `.${allowed}.`);
    }),
  );
});

function only(parent: XmlElement, name: string): XmlElement {
  const [child, ...others] = parent.children;
  assert.ok(child);
  assert.equal(child.name, name);
  assert.deepEqual(others, []);
  return child;
}

function streamXml(name: CarrierName, stream: StreamAnswer): string {
  return carriers[name].answerXml?.(stream) ?? "";
}
