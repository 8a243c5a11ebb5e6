/** Everything a sample rate needs to become spectra of 31.25 Hz steps, and sound again. */
export interface SpectrumPlan {
  sampleRateHz: number;
  /** Samples in a window of 32 ms. */
  size: number;
  /** Samples in a step of 10 ms. */
  hop: number;
  /** Makes a spectrum as strong as it would be at 16 kHz. */
  scale: number;
  radices: number[];
  /** Stage after stage, cosine and sine of each turn in the order they are used. */
  twiddles: Float32Array;
  /** e^(−2πik/size) for k = 0 … size / 2. */
  turns: Float32Array;
  analysis: Float32Array;
  /** Window of the last 20 ms, which undoes the analysis window and the transform's factor. */
  synthesis: Float32Array;
}

/** Rates at which 10 ms and 32 ms are whole numbers of samples, and the window has no factors but 2 and 3. */
export const DIRECT_RATES_HZ = [8_000, 12_000, 16_000, 24_000, 32_000, 48_000] as const;

export function planSpectrum(sampleRateHz: number): SpectrumPlan {
  const size = (sampleRateHz * 32) / 1_000;
  const hop = sampleRateHz / 100;
  const radices = radicesOf(size / 2);
  const { analysis, synthesis } = windowsOf(size, hop);
  return {
    sampleRateHz,
    size,
    hop,
    scale: 16_000 / sampleRateHz,
    radices,
    twiddles: twiddlesOf(size / 2, radices),
    turns: turnsOf(size),
    analysis,
    synthesis,
  };
}

/** The first is always four: the kernel's first stage knows no other. */
function radicesOf(count: number): number[] {
  const radices: number[] = [];
  let left = count;
  for (const radix of [4, 3, 2])
    while (left % radix === 0) {
      radices.push(radix);
      left /= radix;
    }
  return radices;
}

function twiddlesOf(count: number, radices: number[]): Float32Array {
  const values: number[] = [];
  let length = count;
  for (const radix of radices) {
    const whole = length;
    length /= radix;
    for (let place = 0; place < length; place += 1)
      for (let power = 1; power < radix; power += 1) {
        const angle = (-2 * Math.PI * place * power) / whole;
        values.push(Math.cos(angle), Math.sin(angle));
      }
  }
  return Float32Array.from(values);
}

function turnsOf(size: number): Float32Array {
  const values = new Float32Array(size + 2);
  for (let index = 0; index <= size / 2; index += 1) {
    values[2 * index] = Math.cos((2 * Math.PI * index) / size);
    values[2 * index + 1] = -Math.sin((2 * Math.PI * index) / size);
  }
  return values;
}

/** A long rise and a short fall: 32 ms are seen, only the last 20 ms are heard. */
function windowsOf(size: number, hop: number): { analysis: Float32Array; synthesis: Float32Array } {
  const heard = size - 2 * hop;
  const hann = (sample: number): number => 0.5 - 0.5 * Math.cos((Math.PI * sample) / hop);
  const analysis = new Float32Array(size);
  const synthesis = new Float32Array(2 * hop);
  for (let sample = 0; sample < size; sample += 1) {
    const value =
      sample < size - hop
        ? Math.sin((Math.PI * sample) / (2 * (size - hop)))
        : Math.sqrt(Math.max(0, hann(sample - heard)));
    analysis[sample] = value;
    if (sample >= heard)
      synthesis[sample - heard] = hann(sample - heard) / Math.max(value, 1e-9) / (size / 2);
  }
  return { analysis, synthesis };
}
