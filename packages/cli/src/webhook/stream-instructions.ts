import { carriers, type CarrierName } from "@vocalhost/protocol";
import type { CarrierChoice, TelnyxFormat } from "@vocalhost/simulator";
import { Problem } from "../problem.ts";
import { parseXml, XmlError, type XmlElement } from "./xml.ts";

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
  input: { carrier: Exclude<CarrierName, "exotel">; callFormat: TelnyxFormat },
): StreamInstructions {
  const root = parsed(source);
  if (root.name !== "Response") throw wrong(`The XML starts with <${root.name}>, not <Response>.`);
  switch (input.carrier) {
    case "twilio":
      return readTwilio(root);
    case "telnyx":
      return readTelnyx(root, input.callFormat);
    case "plivo":
      return readPlivo(root);
    default:
      return input.carrier satisfies never;
  }
}

function parsed(source: string): XmlElement {
  try {
    return parseXml(source);
  } catch (error) {
    if (error instanceof XmlError) throw wrong("The webhook's response is not XML.", error.message);
    throw error;
  }
}

function readTwilio(root: XmlElement): StreamInstructions {
  const remarks: string[] = [];
  const stream = connectedStream(root);
  const url = streamUrl(stream.attributes["url"]);
  if (url.search !== "") remarks.push("Twilio drops the query of the stream's URL; use <Parameter> instead.");
  url.search = "";
  if (url.protocol !== "wss:" && !isThisMachine(url.hostname)) remarks.push("Twilio takes wss:// only.");
  const parameters = readParameters(stream);
  for (const [name, value] of Object.entries(parameters)) {
    if (name.length + value.length > MAX_PARAMETER_CHARACTERS)
      throw wrong(
        `<Parameter name="${name}"> is too long.`,
        "Name and value may have 500 characters in total.",
      );
  }
  return { url: url.href, parameters, carrier: { name: "twilio" }, remarks };
}

function readTelnyx(root: XmlElement, callFormat: TelnyxFormat): StreamInstructions {
  const { attributes, ...stream } = connectedStream(root);
  const remarks: string[] = [];
  const isRaw = attributes["bidirectionalMode"] === "rtp";
  if (!isRaw) remarks.push('Without bidirectionalMode="rtp" Telnyx plays nothing but MP3.');
  const wantedCodec = attributes["codec"] ?? "default";
  return {
    url: streamUrl(attributes["url"]).href,
    parameters: readParameters(stream),
    carrier: {
      name: "telnyx",
      uplink: wantedCodec === "default" ? callFormat : telnyxFormat(wantedCodec, callFormat.sampleRateHz),
      downlink: telnyxFormat(
        attributes["bidirectionalCodec"] ?? "PCMU",
        Number(attributes["bidirectionalSamplingRate"] ?? 8000),
      ),
      bidirectionalMode: isRaw ? "rtp" : "mp3",
    },
    remarks,
  };
}

function telnyxFormat(name: string, sampleRateHz: number): TelnyxFormat {
  const codecs = carriers.telnyx.encodings.map(({ codec }) => codec);
  const codec = codecs.find((known) => known === name);
  if (!codec) throw wrong(`The codec "${name}" cannot be simulated.`, `These can: ${codecs.join(", ")}.`);
  return { codec, sampleRateHz: codec === "L16" ? sampleRateHz : 8000 };
}

function readPlivo(root: XmlElement): StreamInstructions {
  const remarks: string[] = [];
  const stream = root.children.find(({ name }) => name === "Stream") ?? noStream(root, "<Stream>");
  const { attributes } = stream;
  if (attributes["bidirectional"] !== "true")
    throw wrong(
      'The <Stream> is one-way: bidirectional="true" is missing.',
      "The caller would hear nothing.",
    );
  if (attributes["keepCallAlive"] !== "true")
    remarks.push('Without keepCallAlive="true" Plivo goes on at once, and the call may end.');
  const contentType = /^(audio\/x-mulaw|audio\/x-l16);\s*rate=(\d+)$/.exec(attributes["contentType"] ?? "");
  if (!contentType)
    throw wrong(
      "The <Stream> needs a contentType.",
      "One of audio/x-mulaw;rate=8000, audio/x-l16;rate=8000, audio/x-l16;rate=16000.",
    );
  return {
    url: streamUrl(stream.text).href,
    parameters: readHeaders(attributes["extraHeaders"] ?? ""),
    carrier: {
      name: "plivo",
      format: {
        contentType: contentType[1] === "audio/x-l16" ? "audio/x-l16" : "audio/x-mulaw",
        sampleRateHz: Number(contentType[2]),
      },
    },
    remarks,
  };
}

function connectedStream(root: XmlElement): XmlElement {
  const oneWay = root.children.find(({ name }) => name === "Start");
  const connect = root.children.find(({ name }) => name === "Connect");
  if (!connect && oneWay)
    throw wrong("<Start><Stream> is one-way.", "The caller would hear nothing; use <Connect><Stream>.");
  const stream = connect?.children.find(({ name }) => name === "Stream");
  return stream ?? noStream(root, "<Connect><Stream>");
}

function noStream(root: XmlElement, wanted: string): never {
  const verbs = root.children.map(({ name }) => `<${name}>`).join(", ") || "nothing";
  throw wrong(`The webhook's response has no ${wanted}.`, `It has: ${verbs}.`);
}

function streamUrl(text: string | undefined): URL {
  const url = URL.canParse(text ?? "") ? new URL(text ?? "") : undefined;
  if (url?.protocol === "wss:" || url?.protocol === "ws:") return url;
  throw wrong("The <Stream> has no usable address.", `Expected wss://…, got "${text ?? ""}".`);
}

// No carrier reaches it there, so the scheme says nothing about what happens later.
function isThisMachine(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || hostname.startsWith("127.");
}

function readParameters({ children }: Pick<XmlElement, "children">): Record<string, string> {
  const parameters = children.filter(({ name }) => name === "Parameter");
  return Object.fromEntries(
    parameters.map(({ attributes }) => [attributes["name"] ?? "", attributes["value"] ?? ""]),
  );
}

function readHeaders(text: string): Record<string, string> {
  if (text.length > MAX_HEADER_BYTES) throw wrong("extraHeaders is too long.", "Plivo allows 512 bytes.");
  const pairs = text.split(",").filter((pair) => pair.trim() !== "");
  return Object.fromEntries(
    pairs.map((pair) => {
      const [name = "", ...value] = pair.split("=");
      return [name.trim(), value.join("=").trim()];
    }),
  );
}

const MAX_PARAMETER_CHARACTERS = 500;
const MAX_HEADER_BYTES = 512;

function wrong(message: string, why?: string): Problem {
  return new Problem("webhook_answer", message, {
    why,
    fixes: ["Run with --verbose to see the whole response."],
  });
}
