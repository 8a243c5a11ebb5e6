import type { AnswerElement } from "@vocalhost/simulator";
import { SaxesParser } from "saxes";

export class XmlError extends Error {
  override readonly name = "XmlError";
}

const MAX_DEPTH = 20; // no carrier's instructions are nested deeper

interface OpenElement extends AnswerElement {
  children: OpenElement[];
}

/** Reads the XML carriers take: elements, attributes, text, comments. Throws an XmlError on everything else. */
export function parseXml(source: string): AnswerElement {
  const parser = new SaxesParser({ position: true, xmlns: false });
  const document: OpenElement = { name: "", attributes: {}, children: [], text: "" };
  const open = [document];
  const fail = (why: string): never => {
    throw new XmlError(`line ${parser.line}: ${why}`);
  };
  parser.on("error", ({ message }) => fail(message.replace(/^\d+:\d+: /, "")));
  parser.on("opentag", ({ name, attributes }) => {
    if (open.length > MAX_DEPTH) fail("elements are nested too deeply");
    const element = { name, attributes: { ...attributes }, children: [], text: "" };
    open.at(-1)?.children.push(element);
    open.push(element);
  });
  parser.on("text", (text) => {
    const inside = open.at(-1);
    if (inside) inside.text += text;
  });
  parser.on("closetag", () => {
    const closed = open.pop();
    if (closed) closed.text = closed.text.trim();
  });
  parser.on("doctype", () => fail("a document type is not allowed"));
  parser.on("cdata", () => fail("CDATA is not allowed"));
  parser.on("processinginstruction", () => fail("a processing instruction is not allowed"));
  parser.write(source).close();
  return document.children[0] ?? fail("document must contain a root element.");
}
