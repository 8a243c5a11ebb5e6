/** Cleans what the bot hears, frame by frame, before anybody else listens to it. */
export interface AudioFilter {
  /** Called once, before the first frame. */
  start(sampleRateHz: number): void | Promise<void>;
  /** Gives back as many samples as it got. May change the given array in place and return it. */
  process(samples: Int16Array): Int16Array;
  /** Called once, after the last frame. */
  stop(): void | Promise<void>;
}
