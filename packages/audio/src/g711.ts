/** The two companding laws of telephony: 8 bits carry what 13 or 14 bits of PCM would. */
export type CompandingLaw = "mulaw" | "alaw";

/** The byte telephones send for silence. */
export const G711_SILENCE = { mulaw: 0xff, alaw: 0xd5 } as const;

export function decodeG711(bytes: Uint8Array, law: CompandingLaw): Int16Array {
  const table = DECODE[law];
  const samples = new Int16Array(bytes.length);
  for (let at = 0; at < bytes.length; at += 1) samples[at] = table[bytes[at]!]!;
  return samples;
}

export function encodeG711(samples: Int16Array, law: CompandingLaw): Uint8Array<ArrayBuffer> {
  const table = encodeTable(law);
  const bytes = new Uint8Array(samples.length);
  for (let at = 0; at < samples.length; at += 1) bytes[at] = table[samples[at]! + 0x8000]!;
  return bytes;
}

const MULAW_BIAS = 0x84;
const MULAW_CLIP = 32_635;

const DECODE: Record<CompandingLaw, Int16Array> = {
  mulaw: Int16Array.from({ length: 256 }, (_, code) => mulawSample(code)),
  alaw: Int16Array.from({ length: 256 }, (_, code) => alawSample(code)),
};

// 64 KiB each, made when a call first needs them.
const encodeTables = new Map<CompandingLaw, Uint8Array>();

function encodeTable(law: CompandingLaw): Uint8Array {
  const made = encodeTables.get(law);
  if (made) return made;
  const code = law === "mulaw" ? mulawCode : alawCode;
  const table = Uint8Array.from({ length: 0x1_0000 }, (_, at) => code(at - 0x8000));
  encodeTables.set(law, table);
  return table;
}

function mulawSample(code: number): number {
  const inverted = ~code & 0xff;
  const magnitude = (((inverted & 0x0f) << 3) + MULAW_BIAS) << ((inverted & 0x70) >> 4);
  return inverted & 0x80 ? MULAW_BIAS - magnitude : magnitude - MULAW_BIAS;
}

function mulawCode(sample: number): number {
  const sign = sample < 0 ? 0x80 : 0;
  const magnitude = Math.min(Math.abs(sample), MULAW_CLIP) + MULAW_BIAS;
  const exponent = 24 - Math.clz32(magnitude);
  const mantissa = (magnitude >> (exponent + 3)) & 0x0f;
  return ~(sign | (exponent << 4) | mantissa) & 0xff;
}

function alawSample(code: number): number {
  const flipped = code ^ 0x55;
  const exponent = (flipped & 0x70) >> 4;
  const mantissa = (flipped & 0x0f) << 4;
  const magnitude = exponent === 0 ? mantissa + 8 : (mantissa + 0x108) << (exponent - 1);
  return flipped & 0x80 ? magnitude : -magnitude;
}

function alawCode(sample: number): number {
  const sign = sample >= 0 ? 0x80 : 0;
  const magnitude = Math.min(sample >= 0 ? sample : -sample - 1, 0x7fff) >> 3; // 13 bits
  const exponent = magnitude < 32 ? 0 : 27 - Math.clz32(magnitude);
  const mantissa = exponent === 0 ? (magnitude >> 1) & 0x0f : (magnitude >> exponent) & 0x0f;
  return (sign | (exponent << 4) | mantissa) ^ 0x55;
}
