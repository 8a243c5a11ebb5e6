import { AppError } from "@vocalhost/protocol";
import type { AudioFilter, OpenFilter } from "./audio-filter.ts";
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
      return {
        process: (samples) => engine.process(samples),
        flush: () => engine.flush(),
        dispose: () => engine[Symbol.dispose](),
      };
    },
  };
}

const untouched: OpenFilter = { process: (samples) => samples };
