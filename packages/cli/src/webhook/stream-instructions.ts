import { AnswerError, simulatedCarriers, type AnswerElement, type CarrierChoice } from "@vocalhost/simulator";
import { Problem } from "../problem.ts";
import { parseXml, XmlError } from "./xml.ts";

/** What a webhook told the carrier to do with the call. */
export interface StreamInstructions {
  url: string;
  parameters: Record<string, string>;
  carrier: CarrierChoice;
  /** What a person should know: odd, but not wrong enough to stop. */
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
