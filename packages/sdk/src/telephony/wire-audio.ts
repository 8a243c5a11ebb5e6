import { decodeG711, encodeG711, pcmBytes, pcmSamples } from "@vocalhost/audio";

/** How audio looks inside a carrier's messages. */
export interface WireFormat {
  encoding: "mulaw" | "alaw" | "pcm";
  sampleRateHz: number;
}

export function decodeWireAudio(payload: string, format: WireFormat): Int16Array {
  const bytes = Buffer.from(payload, "base64");
  return format.encoding === "pcm" ? pcmSamples(bytes, 1) : decodeG711(bytes, format.encoding);
}

export function encodeWireAudio(samples: Int16Array, format: WireFormat): string {
  const bytes = format.encoding === "pcm" ? pcmBytes(samples) : encodeG711(samples, format.encoding);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}
