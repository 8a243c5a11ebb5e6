import { carriers, type CarrierName } from "@vocalhost/protocol";
import type { PlivoFormat, TelnyxFormat } from "@vocalhost/simulator";
import { usageProblem } from "../problem.ts";

/** `codec` or `codec/rate`, as in `L16/16000`. */
export interface EncodingRequest {
  codec: string;
  sampleRateHz: number;
}

/** What `--encoding` can say at each carrier; the first is the default. */
export function encodingsOf(carrier: CarrierName): string[] {
  return carriers[carrier].encodings.flatMap(({ codec, ratesHz }) =>
    ratesHz.map((rateHz) => `${codec}/${rateHz}`),
  );
}

/** Undefined is the carrier's default. A codec without a rate means its first rate. */
export function parseEncoding(carrier: CarrierName, text: string | undefined): EncodingRequest {
  const known = encodingsOf(carrier);
  const [codec = "", rate] = (text ?? known[0] ?? "").split("/");
  const wanted = rate === undefined ? `${codec}/` : `${codec}/${rate}`;
  const found = known.find(
    (name) => name.toLowerCase().startsWith(wanted.toLowerCase()) && isWhole(name, wanted),
  );
  if (found === undefined)
    throw usageProblem(
      `${carriers[carrier].title} has no encoding "${text}".`,
      `It has: ${known.join(", ")}`,
    );
  const [foundCodec = "", foundRate] = found.split("/");
  return { codec: foundCodec, sampleRateHz: Number(foundRate) };
}

export function telnyxFormat(request: EncodingRequest): TelnyxFormat {
  const known = carriers.telnyx.encodings.find(({ codec }) => codec === request.codec);
  const { codec } = known ?? carriers.telnyx.encodings[0];
  return { codec, sampleRateHz: request.sampleRateHz };
}

export function plivoFormat(request: EncodingRequest): PlivoFormat {
  return {
    contentType: request.codec === "L16" ? "audio/x-l16" : "audio/x-mulaw",
    sampleRateHz: request.sampleRateHz,
  };
}

function isWhole(name: string, wanted: string): boolean {
  return wanted.endsWith("/") || name.length === wanted.length;
}
