import type { Log } from "../log.ts";

/** Cleans incoming audio before any other use of it. */
export interface AudioFilter {
  /** Called once for every transport with the filter, before its first frame. */
  open(context: FilterContext): OpenFilter | Promise<OpenFilter>;
}

export interface FilterContext {
  /** Sample rate of both input and output. */
  sampleRateHz: number;
  sessionId: string;
  /** The session's log. */
  log: Log;
  /** Aborts with the session. */
  signal: AbortSignal;
}

/** A filter that is open for one stream of audio. */
export interface OpenFilter {
  /**
   * Takes a frame of 20 ms and returns all samples that are ready: fewer or more than went in, since a filter may
   * hold some back. Both arrays may be reused for the next frame.
   */
  process(samples: Int16Array): Int16Array;
  /**
   * Share of the last frame that the filter takes for the caller, from 0 to 1; undefined where it does not judge.
   * Turn detection opens a turn only for the caller.
   */
  readonly nearShare?: number | undefined;
  /** Returns the samples held back. Called once, after the last frame. */
  flush?(): Int16Array;
  /** Called once, after everything else. */
  dispose?(): void | Promise<void>;
}

/** Counters of a filter. */
export interface FilterFigures {
  framesIn: number;
  framesFiltered: number;
}
