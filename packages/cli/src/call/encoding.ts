import {
  carrierTitles,
  telnyxCodecs,
  type CarrierName,
  type PlivoFormat,
  type TelnyxFormat,
} from "@vocalhost/simulator";
import { usageProblem } from "../problem.ts";

/** `codec` or `codec/rate`, as in `L16/16000`. */
export interface EncodingWish {
  codec: string;
  sampleRateHz: number;
}

/** What `--encoding` can say at each carrier; the first is the default. */
export const encodingsOf: Record<CarrierName, readonly string[]> = {
  twilio: ["mulaw/8000"],
  telnyx: ["PCMU/8000", "PCMA/8000", "L16/8000", "L16/16000", "L16/24000"],
  plivo: ["mulaw/8000", "L16/8000", "L16/16000"],
  exotel: ["PCM/8000", "PCM/16000", "PCM/24000"],
};

/** Undefined is the carrier's default. A codec without a rate means its first rate. */
export function parseEncoding(carrier: CarrierName, text: string | undefined): EncodingWish {
  const known = encodingsOf[carrier];
  const [codec = "", rate] = (text ?? known[0] ?? "").split("/");
  const wanted = rate === undefined ? `${codec}/` : `${codec}/${rate}`;
  const found = known.find(
    (name) => name.toLowerCase().startsWith(wanted.toLowerCase()) && isWhole(name, wanted),
  );
  if (found === undefined)
    throw usageProblem(`${carrierTitles[carrier]} has no encoding "${text}".`, `It has: ${known.join(", ")}`);
  const [foundCodec = "", foundRate] = found.split("/");
  return { codec: foundCodec, sampleRateHz: Number(foundRate) };
}

export function telnyxFormat(wish: EncodingWish): TelnyxFormat {
  const codec = telnyxCodecs.find((name) => name === wish.codec) ?? "PCMU";
  return { codec, sampleRateHz: wish.sampleRateHz };
}

export function plivoFormat(wish: EncodingWish): PlivoFormat {
  return {
    contentType: wish.codec === "L16" ? "audio/x-l16" : "audio/x-mulaw",
    sampleRateHz: wish.sampleRateHz,
  };
}

function isWhole(name: string, wanted: string): boolean {
  return wanted.endsWith("/") || name.length === wanted.length;
}
