import { createResampler, writeWav, type AudioFrame } from "@vocalhost/audio";

/** Both sides of a call in one file, one in each ear; the lower rate is raised to the other. */
export function writeStereoWav(sides: { left: AudioFrame; right: AudioFrame }): Uint8Array<ArrayBuffer> {
  const sampleRateHz = Math.max(sides.left.sampleRateHz, sides.right.sampleRateHz);
  const left = raised(sides.left, sampleRateHz);
  const right = raised(sides.right, sampleRateHz);
  const samples = new Int16Array(Math.max(left.length, right.length) * 2);
  for (let at = 0; at < left.length; at++) samples[at * 2] = left[at]!;
  for (let at = 0; at < right.length; at++) samples[at * 2 + 1] = right[at]!;
  const file = writeWav({ samples, sampleRateHz });
  const header = new DataView(file.buffer);
  header.setUint16(22, 2, true); // channels
  header.setUint32(28, sampleRateHz * 4, true); // bytes a second
  header.setUint16(32, 4, true); // bytes of both samples
  return file;
}

function raised({ samples, sampleRateHz }: AudioFrame, toHz: number): Int16Array {
  return createResampler({ fromHz: sampleRateHz, toHz }).process(samples);
}
