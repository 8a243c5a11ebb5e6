/** A stretch of mono sound: PCM, signed 16 bit. */
export interface AudioFrame {
  readonly samples: Int16Array;
  readonly sampleRateHz: number;
}

/** Length of the frames a bot hears, whatever the transport. */
export const FRAME_MS = 20;

export function frameMs(frame: AudioFrame): number {
  return (frame.samples.length * 1000) / frame.sampleRateHz;
}

export function samplesIn(ms: number, sampleRateHz: number): number {
  return Math.round((ms * sampleRateHz) / 1000);
}
