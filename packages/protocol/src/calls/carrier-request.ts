import { carriers, type CarrierName, type RestRequest } from "@vocalhost/carriers";
import { AppError } from "../errors.ts";

/** One request to a carrier's REST interface. */
export interface CarrierRequest extends RestRequest {
  carrier: CarrierName;
}

export interface CarrierAnswer {
  status: number;
  text: string;
}

const ANSWER_MS = 10_000;
const ANSWER_MAX_BYTES = 64 * 1024;
const TOLD_MAX_CHARACTERS = 200;

/** Asks a carrier and gives its answer, whatever that is. Throws `CARRIER_REFUSED` when there is none. */
export async function askCarrier(
  request: CarrierRequest,
  { timeoutMs = ANSWER_MS, signal }: { timeoutMs?: number; signal?: AbortSignal } = {},
): Promise<CarrierAnswer> {
  const { url, method, headers, body } = request;
  const deadline = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(url, {
      method,
      headers,
      redirect: "error", // the credentials are for this address alone
      signal: signal ? AbortSignal.any([signal, deadline]) : deadline,
      ...(body === undefined ? {} : { body }),
    });
    return { status: response.status, text: await readSome(response) };
  } catch (cause) {
    const why = deadline.aborted ? `did not answer within ${timeoutMs / 1000} s` : "could not be reached";
    throw new AppError("CARRIER_REFUSED", {
      message: `${carriers[request.carrier].title}'s REST interface ${why}`,
      cause,
    });
  }
}

/** The carrier's own words for a refusal, short and without anything we sent to be let in. */
export function refusalOf(
  { carrier, headers }: CarrierRequest,
  { status, text }: CarrierAnswer,
  what: string,
): AppError {
  const secret = headers["authorization"]?.split(" ")[1] ?? "";
  const secrets = [secret, ...partsOfBasic(secret)].filter((part) => part.length > 3);
  const words = secrets.reduce((said, part) => said.replaceAll(part, "…"), wordsOf(text));
  const told = words.slice(0, TOLD_MAX_CHARACTERS);
  return new AppError("CARRIER_REFUSED", {
    message: `${carriers[carrier].title} refused ${what}: HTTP ${status}${told ? `, ${told}` : ""}`,
  });
}

async function readSome(response: Response): Promise<string> {
  const reader = response.body?.getReader();
  if (!reader) return "";
  const decoder = new TextDecoder();
  let text = "";
  for (let bytes = 0; bytes < ANSWER_MAX_BYTES;) {
    const { value, done } = await reader.read();
    if (done) return text + decoder.decode();
    bytes += value.length;
    text += decoder.decode(value, { stream: true });
  }
  await reader.cancel();
  return text;
}

/** Each carrier has its own place for the sentence that helps. */
function wordsOf(text: string): string {
  const said = parseJson(text);
  const first = Array.isArray(said["errors"]) ? (said["errors"][0] as unknown) : undefined;
  const nested = said["RestException"] ?? first ?? said;
  const { code, Code, message, Message, detail, title, error } = asObject(nested);
  const sentence = [message, Message, detail, title, error].find((each) => typeof each === "string");
  const number = [code, Code].find((each) => typeof each === "number" || typeof each === "string");
  return [number, sentence]
    .filter((each) => each !== undefined)
    .join(" ")
    .replace(/[^\x20-\x7e]/g, "?");
}

function parseJson(text: string): Record<string, unknown> {
  try {
    return asObject(JSON.parse(text));
  } catch {
    return {};
  }
}

function asObject(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function partsOfBasic(secret: string): string[] {
  try {
    return atob(secret).split(":");
  } catch {
    return [];
  }
}
