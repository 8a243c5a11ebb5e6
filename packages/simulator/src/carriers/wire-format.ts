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

export function toBase64(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += PIECE_BYTES)
    text += String.fromCharCode(...bytes.subarray(at, at + PIECE_BYTES));
  return btoa(text);
}

/** Undefined unless the text is base64 of the standard alphabet, with its padding and nothing else. */
export function fromBase64(text: string): Uint8Array | undefined {
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return undefined;
  const characters = atob(text);
  const bytes = new Uint8Array(characters.length);
  for (let at = 0; at < bytes.length; at++) bytes[at] = characters.charCodeAt(at);
  return bytes;
}

const PIECE_BYTES = 8192; // as many arguments as every engine takes

// Random ids in the formats of the carriers.

function randomBytes(count: number): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(count));
}

export function randomHex(byteCount: number): string {
  return Array.from(randomBytes(byteCount), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

// Not crypto.randomUUID: browsers have it in secure contexts only.
export function randomUuid(): string {
  const bytes = randomBytes(16);
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

export function randomLetters(count: number): string {
  return Array.from(randomBytes(count), (byte) => LETTERS[byte % LETTERS.length]!).join("");
}
