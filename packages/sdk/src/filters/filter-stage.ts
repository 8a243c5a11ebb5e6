import type { Log } from "../log.ts";
import type { AudioFilter, FilterContext, FilterFigures, OpenFilter } from "./audio-filter.ts";

/** Runs a filter between the connection and the bot. Failures of the filter never stop the audio. */
export interface FilterStage {
  /** Returns the frame for the bot: filtered, or untouched when the filter failed. */
  process(frame: Int16Array): Int16Array;
  /** The filter's judgement of the last frame; undefined when it has none or failed. */
  readonly nearShare: number | undefined;
  /** Ends the filter and returns the samples it held back. */
  end(): Int16Array;
  /** Resolves when the filter is disposed of. */
  dispose(): Promise<void>;
  readonly figures: FilterFigures;
}

const OPEN_MAX_MS = 5_000; // the caller waits for the bot's first word meanwhile
const DISPOSE_MAX_MS = 2_000;
const NOTHING = new Int16Array(0);

export async function openFilterStage(filter: AudioFilter, context: FilterContext): Promise<FilterStage> {
  const { log } = context;
  const figures = { framesIn: 0, framesFiltered: 0 };
  const tell = tellOnce(log);
  const opened = await openInTime(filter, context).catch((error: unknown) => {
    tell(error);
    return undefined;
  });
  let ended = false;
  let nearShare: number | undefined;
  let disposal: Promise<void> | undefined;

  async function dispose(): Promise<void> {
    try {
      await within(DISPOSE_MAX_MS, Promise.resolve(opened?.dispose?.()));
    } catch (error) {
      tell(error);
    }
    const { framesIn, framesFiltered } = figures;
    if (framesFiltered < framesIn)
      log.warn({ framesIn, framesFiltered }, "audio passed the filter unfiltered");
  }

  return {
    figures,
    get nearShare() {
      return nearShare;
    },
    process(frame) {
      if (ended) return NOTHING;
      figures.framesIn += 1;
      nearShare = undefined;
      if (!opened) return frame;
      try {
        // A copy, so that the untouched frame is still there if the filter fails half-way.
        const filtered = samplesOf(opened.process(frame.slice()));
        figures.framesFiltered += 1;
        nearShare = opened.nearShare;
        return filtered;
      } catch (error) {
        tell(error);
        return frame;
      }
    },
    end() {
      if (ended) return NOTHING;
      ended = true;
      try {
        return opened?.flush ? samplesOf(opened.flush()) : NOTHING;
      } catch (error) {
        tell(error);
        return NOTHING;
      }
    },
    dispose() {
      ended = true;
      return (disposal ??= dispose());
    },
  };
}

async function openInTime(filter: AudioFilter, context: FilterContext): Promise<OpenFilter> {
  let isLate = false;
  const opening = Promise.resolve(filter.open(context));
  // A filter that opens too late is not used.
  opening.then((late) => (isLate ? late.dispose?.() : undefined)).catch(() => undefined);
  try {
    return await within(OPEN_MAX_MS, opening, context.signal);
  } catch (error) {
    isLate = true;
    throw error;
  }
}

async function within<T>(timeoutMs: number, promise: Promise<T>, signal?: AbortSignal): Promise<T> {
  const { promise: givenUp, reject } = Promise.withResolvers<never>();
  const giveUp = (why: string): void => reject(new Error(why));
  const onAbort = (): void => giveUp("The session ended meanwhile");
  const timer = setTimeout(() => giveUp(`It took more than ${timeoutMs} ms`), timeoutMs);
  signal?.addEventListener("abort", onAbort, { once: true });
  if (signal?.aborted) onAbort();
  try {
    return await Promise.race([promise, givenUp]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
  }
}

/** In JavaScript, `process()` may be async by mistake; its rejection must be handled. */
function samplesOf(result: unknown): Int16Array {
  if (result instanceof Int16Array) return result;
  if (result instanceof Promise) result.catch(() => undefined);
  throw new TypeError("An audio filter must give an Int16Array, and at once");
}

/** A failing filter would otherwise log fifty times a second. */
function tellOnce(log: Log): (error: unknown) => void {
  let isTold = false;
  return (error) => {
    if (!isTold) log.error({ err: error }, "audio filter failed, audio passes untouched");
    isTold = true;
  };
}
