let shared: AudioContext | undefined;

/** One context for meters and capture, at the rate of the device. Ask for it from a user gesture first. */
export function sharedAudioContext(): AudioContext {
  shared ??= new AudioContext({ latencyHint: "interactive" });
  if (shared.state === "suspended") void shared.resume().catch(() => {});
  return shared;
}

/** Between sessions nothing is heard or measured. */
export function restAudioContext(): void {
  if (shared?.state === "running") void shared.suspend().catch(() => {});
}

export function createMeter(context: BaseAudioContext): AnalyserNode {
  const meter = context.createAnalyser();
  meter.fftSize = context.sampleRate < 16_000 ? 256 : 1024; // 20 to 40 ms
  meter.smoothingTimeConstant = 0.6;
  meter.minDecibels = -85;
  meter.maxDecibels = -20;
  return meter;
}
