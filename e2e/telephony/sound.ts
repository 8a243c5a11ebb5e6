import { createResampler, type AudioFrame } from "@vocalhost/audio";

const SEGMENT_MS = 200;
const ALIKE_MIN = 0.7; // correlation; two companded hops of the same sound have 0.9 and more
const SEARCH_S = 3; // a pause in what was said, and what the line may add to it
const QUIET = 300;

/** Share of what was said, in segments of 200 ms, that can be heard in the other recording, in the same order. */
export function shareHeard(said: AudioFrame, heard: AudioFrame): number {
  const rateHz = said.sampleRateHz / 2;
  const segments = loudSegments(halved(said.samples), (SEGMENT_MS * rateHz) / 1000);
  const place = halved(heard.samples);
  let from = 0;
  let until = place.length;
  let found = 0;
  for (const segment of segments) {
    const at = placeOf(segment, place.subarray(from, until));
    if (at === undefined) continue;
    found += 1;
    from += at + (segment.length >> 1);
    until = from + SEARCH_S * rateHz;
  }
  return segments.length === 0 ? 0 : found / segments.length;
}

/** Whether anything but noise is in this stretch. */
export function isQuiet({ samples, sampleRateHz }: AudioFrame, fromMs: number, untilMs: number): boolean {
  const at = (ms: number): number => Math.round((ms * sampleRateHz) / 1000);
  return samples.subarray(at(fromMs), at(untilMs)).every((sample) => Math.abs(sample) < QUIET);
}

/** How much of the recording's energy lies at one frequency, from 0 to 1, in its loudest 100 ms. */
export function toneShare({ samples, sampleRateHz }: AudioFrame, frequencyHz: number): number {
  const length = sampleRateHz / 10;
  let best = 0;
  for (let start = 0; start + length <= samples.length; start += length / 2) {
    const part = samples.subarray(start, start + length);
    const energy = sumOfSquares(part);
    if (energy / length < QUIET * QUIET) continue;
    let [real, imaginary] = [0, 0];
    part.forEach((sample, at) => {
      const angle = (2 * Math.PI * frequencyHz * at) / sampleRateHz;
      real += sample * Math.cos(angle);
      imaginary += sample * Math.sin(angle);
    });
    best = Math.max(best, (2 * (real * real + imaginary * imaginary)) / (length * energy));
  }
  return best;
}

/** Several sounds one after the other. */
export function joined(...frames: AudioFrame[]): AudioFrame {
  const samples = new Int16Array(frames.reduce((sum, frame) => sum + frame.samples.length, 0));
  let at = 0;
  for (const frame of frames) {
    samples.set(frame.samples, at);
    at += frame.samples.length;
  }
  return { samples, sampleRateHz: frames[0]?.sampleRateHz ?? 8_000 };
}

export function atRate({ samples, sampleRateHz }: AudioFrame, toHz: number): AudioFrame {
  const resampler = createResampler({ fromHz: sampleRateHz, toHz });
  return { samples: resampler.process(samples), sampleRateHz: toHz };
}

// Speech has little above 2 kHz; half the rate is a quarter of the work.
function halved(samples: Int16Array): Float64Array {
  return Float64Array.from(
    { length: samples.length >> 1 },
    (_, at) => (samples[at * 2]! + samples[at * 2 + 1]!) / 2,
  );
}

function loudSegments(samples: Float64Array, length: number): Float64Array[] {
  const segments: Float64Array[] = [];
  for (let start = 0; start + length <= samples.length; start += length) {
    const segment = samples.subarray(start, start + length);
    if (sumOfSquares(segment) / length > QUIET * QUIET) segments.push(segment);
  }
  return segments;
}

/** Where the segment is heard first, if it is heard at all. */
function placeOf(segment: Float64Array, place: Float64Array): number | undefined {
  const energy = sumOfSquares(segment);
  for (let start = 0; start + segment.length <= place.length; start += 1) {
    if (Math.abs(place[start]!) + Math.abs(place[start + (segment.length >> 1)]!) < 1) continue; // silence
    let product = 0;
    let placeEnergy = 0;
    for (let at = 0; at < segment.length; at += 1) {
      const sample = place[start + at]!;
      product += sample * segment[at]!;
      placeEnergy += sample * sample;
    }
    if (placeEnergy > 0 && product / Math.sqrt(energy * placeEnergy) >= ALIKE_MIN) return start;
  }
  return undefined;
}

function sumOfSquares(samples: Int16Array | Float64Array): number {
  let sum = 0;
  for (const sample of samples) sum += sample * sample;
  return sum;
}
