import type { Log } from "../log.ts";

/** Cleans incoming audio before anything else uses it. */
export interface AudioFilter {
  /** Called once for every transport that is given the filter, before its first frame. */
  open(context: FilterContext): OpenFilter | Promise<OpenFilter>;
}

export interface FilterContext {
  /** Sample rate of both input and output. */
  sampleRateHz: number;
  sessionId: string;
  /** The session's own. */
  log: Log;
  /** Aborts with the session. */
  signal: AbortSignal;
}

/** A filter at work on one stream of audio. */
export interface OpenFilter {
  /**
   * Takes a frame of 20 ms and gives back all samples that are ready: fewer or more than went in, for a filter may hold
   * some back. Both arrays may be used again for the next frame.
   */
  process(samples: Int16Array): Int16Array;
  /** Gives out what is still inside. Called once, after the last frame. */
  flush?(): Int16Array;
  /** Called once, after everything else. */
  dispose?(): void | Promise<void>;
}

/** What became of the audio. */
export interface FilterFigures {
  framesIn: number;
  framesFiltered: number;
}
