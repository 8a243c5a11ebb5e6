import { createResampler, type AudioFrame } from "@vocalhost/audio";

/** The whole of a recording at another rate. */
export function atRate({ samples, sampleRateHz }: AudioFrame, toHz: number): Int16Array {
  if (sampleRateHz === toHz) return samples;
  const resampler = createResampler({ fromHz: sampleRateHz, toHz });
  const main = resampler.process(samples);
  const tail = resampler.flush();
  const all = new Int16Array(main.length + tail.length);
  all.set(main);
  all.set(tail, main.length);
  return all;
}

/** Adds one sound to another, in place; what is too loud is clipped. */
export function addTo(sound: Int16Array, more: Int16Array): void {
  for (let at = 0; at < more.length; at++)
    sound[at] = Math.max(-32_768, Math.min(32_767, sound[at]! + more[at]!));
}
