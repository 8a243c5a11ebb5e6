import { AnswerError, simulatedCarriers, type AnswerElement, type CarrierChoice } from "@vocalhost/simulator";
import { SaxesParser } from "saxes";
import { Problem } from "../problem.ts";

/** The webhook's instruction to the carrier. */
export interface StreamInstructions {
  url: string;
  parameters: Record<string, string>;
  carrier: CarrierChoice;
  /** Remarks for the developer: oddities that do not stop the call. */
  remarks: string[];
}

/** Reads the answer as the carrier would and refuses what the carrier would not understand. */
export function readStreamInstructions(
  source: string,
  planned: CarrierChoice,
  parameters: Readonly<Record<string, string>> = {},
): StreamInstructions {
  const carrier = simulatedCarriers[planned.name];
  try {
    const told =
      carrier.readXml?.(responseIn(source), planned) ?? carrier.readJson?.(parsedJson(source), parameters);
    if (!told) throw new TypeError(`${planned.name} has no webhook`);
    const { options, ...instructions } = told;
    return { ...instructions, carrier: { name: planned.name, ...options } };
  } catch (error) {
    if (error instanceof AnswerError) throw wrong(error.message, error.why, error.fix);
    throw error;
  }
}

function responseIn(source: string): AnswerElement {
  const root = parsedXml(source);
  if (root.name === "Response") return root;
  throw wrong(`The XML starts with <${root.name}>, not <Response>.`);
}

function parsedXml(source: string): AnswerElement {
  try {
    return parseXml(source);
  } catch (error) {
    if (error instanceof XmlError) throw wrong("The webhook's response is not XML.", error.message);
    throw error;
  }
}

function parsedJson(source: string): unknown {
  try {
    return JSON.parse(source);
  } catch {
    return undefined;
  }
}

function wrong(
  message: string,
  why?: string,
  fix = "Run with --verbose to see the whole response.",
): Problem {
  return new Problem("webhook_answer", message, { why, fixes: [fix] });
}

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
