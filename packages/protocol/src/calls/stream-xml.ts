import type { CarrierName } from "../carriers.ts";
import type { Answerer } from "./answerer.ts";

export interface StreamAnswer {
  /** Where the carrier shall stream the call to. */
  url: string;
  from: string | undefined;
  to: string | undefined;
  /** Who took a call that we placed. */
  answeredBy?: Answerer | undefined;
}

/** What a carrier's webhook is answered with so that it streams the call to us. */
export function streamXml(carrier: Exclude<CarrierName, "exotel">, answer: StreamAnswer): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n<Response>\n${RESPONSES[carrier](answer)}\n</Response>\n`;
}

/** Exotel asks for no XML; its applet takes the address from `url`. */
export function exotelAnswer({ url }: StreamAnswer): Record<string, string> {
  return {
    error: "Exotel doesn't use POST webhooks",
    websocket_url: url,
    url,
    note: "Enter websocket_url in the Voicebot applet of your App Bazaar flow, followed by a Hangup applet.",
  };
}

const RESPONSES = {
  twilio: ({ url, from, to, answeredBy }: StreamAnswer) =>
    [
      "  <Connect>",
      `    <Stream url="${escapeXml(url)}">`,
      ...parameter("from_number", from),
      ...parameter("to_number", to),
      ...parameter("answered_by", answeredBy),
      "    </Stream>",
      "  </Connect>",
    ].join("\n"),
  telnyx: ({ url, answeredBy }: StreamAnswer) =>
    [
      "  <Connect>",
      `    <Stream url="${escapeXml(url)}" bidirectionalMode="rtp">`,
      ...parameter("answered_by", answeredBy),
      "    </Stream>",
      "  </Connect>",
    ].join("\n"),
  plivo: ({ url, from, to, answeredBy }: StreamAnswer) =>
    `  <Stream bidirectional="true" keepCallAlive="true" contentType="audio/x-mulaw;rate=8000"${extraHeaders({ from, to, answeredBy })}>` +
    `${escapeXml(url)}</Stream>`,
};

const PARAMETER_MAX_CHARS = 480; // name and value together within the carrier's 500

function parameter(name: string, value: string | undefined): string[] {
  if (!value) return [];
  return [`      <Parameter name="${name}" value="${escapeXml(value.slice(0, PARAMETER_MAX_CHARS))}"/>`];
}

// Plivo takes letters and digits only.
function extraHeaders(headers: Record<string, string | undefined>): string {
  const pairs = Object.entries(headers).flatMap(([name, value]) => {
    const plain = value?.replace(/[^A-Za-z0-9]/g, "").slice(0, 64);
    return plain ? [`${name}=${plain}`] : [];
  });
  return pairs.length > 0 ? ` extraHeaders="${pairs.join(",")}"` : "";
}

/** Has Plivo connect a call with somebody else; with the other carriers that travels in the request. */
export function dialXml(to: string, callerId?: string): string {
  const target = to.startsWith("sip") ? "User" : "Number";
  const caller = callerId === undefined ? "" : ` callerId="${escapeXml(callerId)}"`;
  return `<?xml version="1.0" encoding="UTF-8"?>\n<Response>\n  <Dial${caller}><${target}>${escapeXml(to)}</${target}></Dial>\n</Response>\n`;
}

/** The same for Twilio, whose word for SIP addresses is another. */
export function dialTwiml(to: string, callerId?: string): string {
  return dialXml(to, callerId).replaceAll(/(<\/?)User>/g, "$1Sip>");
}

export function escapeXml(text: string): string {
  return text
    .replace(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, "") // not allowed in XML at all
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&apos;");
}
