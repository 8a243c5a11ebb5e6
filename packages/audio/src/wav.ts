import type { AudioFrame } from "./frame.ts";

/** Reads 16-bit PCM; two channels are mixed into one. Throws on anything else. */
export function parseWav(bytes: Uint8Array): AudioFrame {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < 12 || nameAt(view, 0) !== "RIFF" || nameAt(view, 8) !== "WAVE") {
    throw new Error("Not a WAV file");
  }
  let format: WavFormat | undefined;
  for (let at = 12; at + 8 <= bytes.length;) {
    const name = nameAt(view, at);
    const start = at + 8;
    // Programs that write into a pipe cannot know the length and put a huge one.
    const length = Math.min(view.getUint32(at + 4, true), bytes.length - start);
    if (name === "fmt ") format = parseFormat(view, start, length);
    if (name === "data") {
      if (!format) break;
      return {
        samples: mixed(view, { ...format, start, length }),
        sampleRateHz: format.sampleRateHz,
      };
    }
    at = start + length + (length % 2); // chunks begin at even places
  }
  throw new Error("Broken WAV file: it has no format or no sound");
}

export function writeWav(frame: AudioFrame): Uint8Array<ArrayBuffer> {
  const { samples, sampleRateHz } = frame;
  const bytes = new Uint8Array(HEADER_BYTES + samples.length * 2);
  const view = new DataView(bytes.buffer);
  writeName(bytes, 0, "RIFF");
  view.setUint32(4, bytes.length - 8, true);
  writeName(bytes, 8, "WAVEfmt ");
  view.setUint32(16, 16, true);
  view.setUint16(20, PCM, true);
  view.setUint16(22, 1, true);
  view.setUint32(24, sampleRateHz, true);
  view.setUint32(28, sampleRateHz * 2, true);
  view.setUint16(32, 2, true);
  view.setUint16(34, 16, true);
  writeName(bytes, 36, "data");
  view.setUint32(40, samples.length * 2, true);
  for (let i = 0; i < samples.length; i++) view.setInt16(HEADER_BYTES + i * 2, samples[i]!, true);
  return bytes;
}

function writeName(bytes: Uint8Array, at: number, name: string): void {
  for (let i = 0; i < name.length; i++) bytes[at + i] = name.charCodeAt(i);
}

interface WavFormat {
  channels: number;
  sampleRateHz: number;
}

const HEADER_BYTES = 44;
const PCM = 1;
const EXTENSIBLE = 0xfffe; // the real format follows, as the beginning of a GUID

function parseFormat(view: DataView, start: number, length: number): WavFormat {
  if (length < 16) throw new Error("Broken WAV file: its format is cut short");
  const tag = view.getUint16(start, true);
  const encoding = tag === EXTENSIBLE && length >= 26 ? view.getUint16(start + 24, true) : tag;
  const channels = view.getUint16(start + 2, true);
  const sampleRateHz = view.getUint32(start + 4, true);
  const bits = view.getUint16(start + 14, true);
  if (encoding !== PCM || bits !== 16) {
    throw new Error(`Only 16-bit PCM can be read, this WAV file has ${bits} bits, format ${encoding}`);
  }
  if (channels < 1 || channels > 2) throw new Error(`Cannot read a WAV file of ${channels} channels`);
  if (sampleRateHz === 0) throw new Error("Broken WAV file: its sample rate is 0");
  return { channels, sampleRateHz };
}

function mixed(view: DataView, sound: WavFormat & { start: number; length: number }): Int16Array {
  const { channels, start } = sound;
  const samples = new Int16Array(Math.floor(sound.length / (2 * channels)));
  for (let i = 0; i < samples.length; i++) {
    const at = start + i * 2 * channels;
    const first = view.getInt16(at, true);
    samples[i] = channels === 1 ? first : (first + view.getInt16(at + 2, true)) >> 1;
  }
  return samples;
}

function nameAt(view: DataView, at: number): string {
  return String.fromCharCode(...[0, 1, 2, 3].map((i) => view.getUint8(at + i)));
}
