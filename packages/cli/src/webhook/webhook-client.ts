import { carriers } from "@vocalhost/carriers";
import type { CallDetails, CarrierChoice } from "@vocalhost/simulator";
import { refusedRequest, unreachable } from "../connection-problem.ts";
import { Problem } from "../problem.ts";
import type { Signer } from "./signer.ts";
import { readStreamInstructions, type StreamInstructions } from "./stream-instructions.ts";

/** Asks a bot's webhook what to do with a call, as the carrier does, and gives what it was told. */
export async function askWebhook(options: WebhookOptions): Promise<StreamInstructions> {
  const { carrier, details } = options;
  const { ids, from, to, parameters } = details;
  const fields = carriers[carrier.name].webhookFields({ ...ids, from, to });
  const text = asksForXml(carrier) ? await post(options, fields) : await get(options, fields);
  return readStreamInstructions(text, carrier, parameters);
}

export interface WebhookOptions {
  /** As planned; the answer may choose otherwise. */
  carrier: CarrierChoice;
  url: string;
  /** The webhook's address as the carrier knows it; the signature covers it. @default url */
  publicUrl?: string | undefined;
  details: CallDetails;
  signer: Signer;
  signal: AbortSignal;
  onAnswer?: (text: string) => void;
}

const WEBHOOK_TIMEOUT_MS = 15_000; // carriers wait no longer
const MAX_ANSWER_BYTES = 64 * 1024;

function asksForXml({ name }: CarrierChoice): boolean {
  return carriers[name].answerXml !== undefined;
}

async function post(options: WebhookOptions, fields: Record<string, string>): Promise<string> {
  const { url, publicUrl, signer, signal } = options;
  const form = new URLSearchParams(fields).toString();
  const { text, contentType } = await request(options, {
    method: "POST",
    headers: {
      "content-type": "application/x-www-form-urlencoded; charset=utf-8",
      ...(await signer.webhookHeaders({ url: publicUrl ?? url, form })),
    },
    body: form,
    signal: deadline(signal),
  });
  if (/^(?:text|application)\/xml\b/i.test(contentType)) return text;
  throw new Problem("webhook_answer", `The webhook answered with ${contentType || "no content type"}.`, {
    why: "Carriers expect text/xml or application/xml.",
  });
}

async function get(options: WebhookOptions, fields: Record<string, string>): Promise<string> {
  const url = new URL(options.url);
  for (const [name, value] of Object.entries(fields)) url.searchParams.set(name, value);
  const { text } = await request(
    { ...options, url: url.href },
    { method: "GET", signal: deadline(options.signal) },
  );
  return text;
}

function deadline(signal: AbortSignal): AbortSignal {
  return AbortSignal.any([signal, AbortSignal.timeout(WEBHOOK_TIMEOUT_MS)]);
}

interface WebhookAnswer {
  contentType: string;
  text: string;
}

async function request(options: WebhookOptions, init: RequestInit): Promise<WebhookAnswer> {
  let response: Response;
  try {
    response = await fetch(options.url, { ...init, redirect: "manual" });
  } catch (error) {
    throw unreachable(options.url, error);
  }
  const text = await cappedText(response);
  options.onAnswer?.(text);
  const contentType = response.headers.get("content-type") ?? "";
  const isRedirect = !asksForXml(options.carrier) && response.status < 400; // what it holds is explained
  if (response.ok || isRedirect) return { contentType, text };
  throw refusedRequest({ what: "webhook", ...options, status: response.status, body: text });
}

async function cappedText(response: Response): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of response.body ?? []) {
    bytes += piece.length;
    if (bytes > MAX_ANSWER_BYTES)
      throw new Problem("webhook_answer", "The webhook's response is over 64 KB.");
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString();
}
