import { decodeG711, encodeG711 } from "@vocalhost/audio";

/** How samples are written on the wire. `s16be` is what RTP calls L16. */
export type WireEncoding = "mulaw" | "alaw" | "s16le" | "s16be";

export interface WireFormat {
  encoding: WireEncoding;
  sampleRateHz: number;
}

export function bytesPerSample(encoding: WireEncoding): number {
  return encoding === "mulaw" || encoding === "alaw" ? 1 : 2;
}

export function encodeSamples(samples: Int16Array, encoding: WireEncoding): Uint8Array {
  if (encoding === "mulaw" || encoding === "alaw") return encodeG711(samples, encoding);
  const bytes = new Uint8Array(samples.length * 2);
  const view = new DataView(bytes.buffer);
  for (let at = 0; at < samples.length; at++) view.setInt16(at * 2, samples[at]!, encoding === "s16le");
  return bytes;
}

/** Half a sample at the end is left out. */
export function decodeSamples(bytes: Uint8Array, encoding: WireEncoding): Int16Array {
  if (encoding === "mulaw" || encoding === "alaw") return decodeG711(bytes, encoding);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const samples = new Int16Array(bytes.length >> 1);
  for (let at = 0; at < samples.length; at++) samples[at] = view.getInt16(at * 2, encoding === "s16le");
  return samples;
}
