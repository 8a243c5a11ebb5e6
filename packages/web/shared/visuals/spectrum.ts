const bins = new Uint8Array(512);
const VOICE_FROM_HZ = 90;
const VOICE_TO_HZ = 6_000;

/** Strength of each band of the voice, 0 to 1, low to high; bands grow wider upwards as hearing does. */
export function readSpectrum(meter: AnalyserNode | undefined, bands: Float32Array): void {
  if (!meter) {
    bands.fill(0);
    return;
  }
  const data = bins.subarray(0, meter.frequencyBinCount);
  meter.getByteFrequencyData(data);
  const hzPerBin = meter.context.sampleRate / meter.fftSize;
  const ratio = VOICE_TO_HZ / VOICE_FROM_HZ;
  for (let band = 0; band < bands.length; band++) {
    const from = (VOICE_FROM_HZ * ratio ** (band / bands.length)) / hzPerBin;
    const to = (VOICE_FROM_HZ * ratio ** ((band + 1) / bands.length)) / hzPerBin;
    let peak = 0;
    for (let bin = Math.floor(from); bin <= Math.ceil(to) && bin < data.length; bin++) {
      peak = Math.max(peak, data[bin] ?? 0);
    }
    bands[band] = peak / 255;
  }
}
