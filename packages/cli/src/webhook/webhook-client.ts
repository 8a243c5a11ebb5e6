import type { CarrierName } from "@vocalhost/protocol";
import type { CallDetails, TelnyxFormat } from "@vocalhost/simulator";
import { refusedRequest, unreachable } from "../connection-problem.ts";
import { Problem } from "../problem.ts";
import type { Signer } from "./signer.ts";
import { readStreamInstructions, type StreamInstructions } from "./stream-instructions.ts";
import { webhookFields } from "./webhook-fields.ts";

/** Asks a bot's webhook what to do with a call, as the carrier does, and gives what it was told. */
export async function askWebhook(options: WebhookOptions): Promise<StreamInstructions> {
  const { carrier, url, signal } = options;
  if (carrier === "exotel") return askExotel(options);
  const fields = webhookFields(carrier, options.details);
  const body = new URLSearchParams(fields).toString();
  const answer = await request(options, {
    method: "POST",
    headers: {
      "content-type": "application/x-www-form-urlencoded; charset=utf-8",
      ...options.signer.webhookHeaders({ url: options.publicUrl ?? url, fields, body }),
    },
    body,
    signal: deadline(signal),
  });
  if (!/^(?:text|application)\/xml\b/i.test(answer.contentType))
    throw new Problem(
      "webhook_answer",
      `The webhook answered with ${answer.contentType || "no content type"}.`,
      {
        why: "Carriers expect text/xml or application/xml.",
      },
    );
  return readStreamInstructions(answer.text, { carrier, callFormat: options.callFormat });
}

export interface WebhookOptions {
  carrier: CarrierName;
  url: string;
  /** What the carrier knows the webhook by; the signature is made for it. @default url */
  publicUrl?: string | undefined;
  details: CallDetails;
  signer: Signer;
  /** Codec of the caller's leg, at carriers where the XML may leave it open. */
  callFormat: TelnyxFormat;
  signal: AbortSignal;
  onAnswer?: (text: string) => void;
}

const WEBHOOK_TIMEOUT_MS = 15_000; // carriers wait no longer
const MAX_ANSWER_BYTES = 64 * 1024;

async function askExotel(options: WebhookOptions): Promise<StreamInstructions> {
  const url = new URL(options.url);
  for (const [name, value] of Object.entries(webhookFields("exotel", options.details)))
    url.searchParams.set(name, value);
  const answer = await request(
    { ...options, url: url.href },
    { method: "GET", signal: deadline(options.signal) },
  );
  const address = exotelAddress(answer.text);
  if (address === undefined)
    throw new Problem("webhook_answer", 'The webhook did not answer {"url": "wss://…"}.', {
      why: "Exotel uses no XML: its applet holds the stream's address, or asks one of your URLs for it.",
      fixes: ["Call the stream directly: vocalhost call --carrier exotel --to ws://localhost:7860/ws"],
    });
  const rate = new URL(address).searchParams.get("sample-rate");
  return {
    url: address,
    parameters: { ...options.details.parameters },
    carrier: { name: "exotel", sampleRateHz: Number(rate ?? 8000) },
    remarks: [],
  };
}

function exotelAddress(text: string): string | undefined {
  try {
    const { url } = JSON.parse(text) as { url?: unknown };
    return typeof url === "string" && /^wss?:/.test(url) && URL.canParse(url) ? url : undefined;
  } catch {
    return undefined;
  }
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
  const isRedirectOfExotel = options.carrier === "exotel" && response.status < 400; // the caller explains it
  if (response.ok || isRedirectOfExotel) return { contentType, text };
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
