import fc from "fast-check";
import assert from "node:assert/strict";
import { test } from "node:test";
import { parseXml, XmlError } from "./stream-instructions.ts";

test("reads elements, attributes, text, comments and entities", () => {
  const source = `\uFEFF<?xml version="1.0" encoding="UTF-8"?>
    <!-- what to do -->
    <Response>
      <Connect><Stream url='wss://host/ws?a=1&amp;b=2' name = "a&#33;&#x21;&quot;" /></Connect>
      <!-- <Say>no</Say> -->
      <Say> Tom &lt;&apos;&gt; Jerry </Say >
    </Response>
    <!-- end -->`;
  assert.deepEqual(parseXml(source), {
    name: "Response",
    attributes: {},
    text: "",
    children: [
      {
        name: "Connect",
        attributes: {},
        text: "",
        children: [
          {
            name: "Stream",
            attributes: { url: "wss://host/ws?a=1&b=2", name: 'a!!"' },
            text: "",
            children: [],
          },
        ],
      },
      { name: "Say", attributes: {}, text: "Tom <'> Jerry", children: [] },
    ],
  });
});

test("refuses what is not well-formed, and says where", () => {
  const table: [string, RegExp][] = [
    ["", /line 1: document must contain a root element/],
    ["text", /text data outside of root/],
    ["<a>", /unclosed tag: a/],
    ["<a></b>", /unexpected close tag/],
    ["<a/><b/>", /only one root/],
    ["<a/>text", /text data outside of root/],
    ["<a b></a>", /attribute without value/],
    ["<a b=c></a>", /unquoted attribute value/],
    ['<a b="c></a>', /disallowed character/],
    ['<a b="<"></a>', /disallowed character/],
    ['<a b="1" b="2"/>', /duplicate attribute: b/],
    ['<a b="1"c="2"/>', /no whitespace between attributes/],
    ["<a>\n\n<b>&</b></a>", /line 3: unclosed tag: b/],
    ["<a>&nbsp;</a>", /undefined entity/],
    ["<a>&constructor;</a>", /undefined entity/],
    ["<a>&#0;</a>", /malformed character entity/],
    ["<a>&#x110000;</a>", /malformed character entity/],
    ["<!DOCTYPE a><a/>", /document type/],
    ["<a><![CDATA[x]]></a>", /CDATA/],
    ["<a><?php ?></a>", /processing instruction/],
    ["<?xml version='1.0'", /root element/],
    ["<!-- <a/>", /root element/],
    ["<a ", /unexpected end/],
    ["<a>".repeat(50), /too deeply/],
  ];
  for (const [source, message] of table)
    assert.throws(() => parseXml(source), { name: "XmlError", message }, JSON.stringify(source));
});

test("throws nothing but XmlErrors, whatever it reads", () => {
  const pieces = fc.constantFrom(
    ...[
      "<",
      ">",
      "/",
      "</",
      "a",
      "b",
      "=",
      '"',
      "'",
      "&",
      ";",
      "#",
      " ",
      "<!--",
      "-->",
      "<a>",
      "</a>",
      "<a/>",
      "?",
    ],
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(pieces, { maxLength: 30 }).map((parts) => parts.join("")),
      ),
      (source) => {
        try {
          parseXml(source);
        } catch (error) {
          assert.ok(error instanceof XmlError);
        }
      },
    ),
    { numRuns: 2000 },
  );
});

test("text and attributes survive escaping", () => {
  const escape = (text: string): string =>
    text.replace(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`);
  fc.assert(
    fc.property(fc.string(), fc.string(), (attribute, text) => {
      const { attributes, text: read } = parseXml(`<a b="${escape(attribute)}">${escape(text)}</a>`);
      assert.equal(attributes["b"], attribute);
      assert.equal(read, text.trim());
    }),
  );
});
