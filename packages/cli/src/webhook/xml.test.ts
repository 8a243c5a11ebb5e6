import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { parseXml, XmlError } from "./xml.ts";

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
    ["", /line 1: an element is missing/],
    ["text", /an element is missing/],
    ["<a>", /<a> does not end/],
    ["<a></b>", /<a> is not the element that should end here/],
    ["<a/><b/>", /something after/],
    ["<a/>text", /something after/],
    ["<a b></a>", /attribute b has no value/],
    ["<a b=c></a>", /no quotes/],
    ['<a b="c></a>', /does not end/],
    ['<a b="<"></a>', /&lt;/],
    ['<a b="1" b="2"/>', /twice/],
    ['<a b="1"c="2"/>', /white space/],
    ["<a>\n\n<b>&</b></a>", /line 3: "&" is not an entity/],
    ["<a>&nbsp;</a>", /not an entity/],
    ["<a>&constructor;</a>", /not an entity/],
    ["<a>&#0;</a>", /not an entity/],
    ["<a>&#x110000;</a>", /not an entity/],
    ["<!DOCTYPE a><a/>", /an element/],
    ["<a><![CDATA[x]]></a>", /no name/],
    ["<a><?php ?></a>", /no name/],
    ["<?xml version='1.0'", /declaration/],
    ["<!-- <a/>", /comment/],
    ["<a ", /does not end/],
    ["<a".repeat(50).replaceAll("<a", "<a>"), /too deeply/],
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
