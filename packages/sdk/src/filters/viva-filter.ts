import { AppError } from "@vocalhost/protocol";
import type { AudioFilter, OpenFilter } from "./audio-filter.ts";
import type { VoiceEngine } from "./filter-tally.ts";
import { providedVoiceIsolation, type VoiceIsolation } from "./voice-isolation.ts";

/**
 * Voice isolation by the hosted service, as the deployment configures it. Throws `VIVA_UNAVAILABLE_LOCALLY`
 * outside the service: check the variable `ENV`, which is `local` in the runner. The runner's flag `--voice-
 * filter` provides it locally.
 */
export function vivaFilter(): AudioFilter {
  const isolation = providedVoiceIsolation();
  if (!isolation) throw new AppError("VIVA_UNAVAILABLE_LOCALLY");
  return createVivaFilter(isolation);
}

/** Returns the filter for a bot that did not choose one. */
export function filterWithoutAsking(): AudioFilter | undefined {
  const isolation = providedVoiceIsolation();
  return isolation?.attaches === "always" ? createVivaFilter(isolation) : undefined;
}

function createVivaFilter(isolation: VoiceIsolation): AudioFilter {
  return {
    async open({ sampleRateHz, sessionId, log }) {
      const { asked } = isolation;
      if (asked === null) {
        log.warn({}, "the voice filter is not enabled in this deployment, audio passes untouched");
        return untouched;
      }
      const engine = await isolation.open({ model: asked, sampleRateHz, sessionId });
      if (!engine) {
        log.warn({}, "the voice filter's engine is not available, audio passes untouched");
        return untouched;
      }
      const near = new NearMeter(engine);
      return {
        process: (samples) => near.process(samples),
        get nearShare() {
          return near.share;
        },
        flush: () => engine.flush(),
        dispose: () => engine[Symbol.dispose](),
      };
    },
  };
}

/** Reads from the engine's counters how much of each frame is the caller's. */
class NearMeter {
  readonly #engine: VoiceEngine;
  #frames = 0;
  #nearFrames = 0;
  #share: number | undefined;

  constructor(engine: VoiceEngine) {
    this.#engine = engine;
  }

  /** Undefined while audio passes untouched, or when the engine does not count. */
  get share(): number | undefined {
    return this.#engine.isBypassed ? undefined : this.#share;
  }

  process(samples: Int16Array): Int16Array {
    const filtered = this.#engine.process(samples);
    const { framesFiltered, nearShare } = this.#engine.figures;
    if (nearShare === undefined) return filtered;
    const nearFrames = nearShare * framesFiltered;
    if (framesFiltered > this.#frames)
      this.#share = Math.min(
        1,
        Math.max(0, (nearFrames - this.#nearFrames) / (framesFiltered - this.#frames)),
      );
    this.#frames = framesFiltered;
    this.#nearFrames = nearFrames;
    return filtered;
  }
}

const untouched: OpenFilter = { process: (samples) => samples };
