import { decodeG711, encodeG711, pcmBytes, pcmSamples } from "@vocalhost/audio";
import type { WireFormat } from "@vocalhost/carriers";

export function decodeWireAudio(payload: string, format: WireFormat): Int16Array {
  const bytes = Buffer.from(payload, "base64");
  if (format.encoding === "pcm") return pcmSamples(bytes, 1);
  if (format.encoding === "pcm-network") return pcmSamples(swapped(bytes), 1);
  return decodeG711(bytes, format.encoding);
}

export function encodeWireAudio(samples: Int16Array, format: WireFormat): string {
  return wireBytes(samples, format.encoding).toString("base64");
}

function wireBytes(samples: Int16Array, encoding: WireFormat["encoding"]): Buffer {
  if (encoding === "pcm") return asBuffer(pcmBytes(samples));
  if (encoding === "pcm-network") return swapped(asBuffer(pcmBytes(samples)));
  return asBuffer(encodeG711(samples, encoding));
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function swapped(bytes: Buffer): Buffer {
  return Buffer.from(bytes.subarray(0, bytes.length & ~1)).swap16();
}
