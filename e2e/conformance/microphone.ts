import { writeFile } from "node:fs/promises";

export const MICROPHONE_TONE_HZ = 700;

const SAMPLE_RATE_HZ = 48_000;
const DURATION_S = 2; // whole periods, so that the browser can repeat the file without a click
const HEADER_BYTES = 44;

/** A WAV file with a steady tone, for browsers to use as their microphone. */
export async function writeMicrophoneFile(path: string): Promise<void> {
  const sampleCount = SAMPLE_RATE_HZ * DURATION_S;
  const bytes = Buffer.alloc(HEADER_BYTES + sampleCount * 2);
  bytes.write("RIFF", 0, "latin1");
  bytes.writeUInt32LE(bytes.length - 8, 4);
  bytes.write("WAVEfmt ", 8, "latin1");
  bytes.writeUInt32LE(16, 16);
  bytes.writeUInt16LE(1, 20); // PCM
  bytes.writeUInt16LE(1, 22); // mono
  bytes.writeUInt32LE(SAMPLE_RATE_HZ, 24);
  bytes.writeUInt32LE(SAMPLE_RATE_HZ * 2, 28);
  bytes.writeUInt16LE(2, 32);
  bytes.writeUInt16LE(16, 34);
  bytes.write("data", 36, "latin1");
  bytes.writeUInt32LE(sampleCount * 2, 40);
  for (let at = 0; at < sampleCount; at += 1) {
    const sample = 10_000 * Math.sin((2 * Math.PI * MICROPHONE_TONE_HZ * at) / SAMPLE_RATE_HZ);
    bytes.writeInt16LE(Math.round(sample), HEADER_BYTES + at * 2);
  }
  await writeFile(path, bytes);
}
