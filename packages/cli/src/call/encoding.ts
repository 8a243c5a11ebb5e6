import { carriers, type CarrierName } from "@vocalhost/carriers";
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

function isWhole(name: string, wanted: string): boolean {
  return wanted.endsWith("/") || name.length === wanted.length;
}
