import type { FilterLevel, FilterView, VoiceFilter } from "@vocalhost/protocol";
import type { VoiceEngine } from "./filter-tally.ts";

/** Switch and levels of one session's voice isolation, for comparing with and without it. */
export interface FilterSwitch {
  /** Whether audio passes unfiltered; the engine still processes it. */
  isBypassed: boolean;
  view(): FilterView;
}

/** The switches of all sessions with a filter. */
export interface FilterSwitches {
  /** Connects a stream to the switch of its session until it is disposed of. */
  put(engine: VoiceEngine, stream: SwitchedStream): VoiceEngine;
  of(sessionId: string): FilterSwitch | undefined;
}

export interface SwitchedStream {
  sessionId: string;
  model: VoiceFilter;
  sampleRateHz: number;
  /** Reports how much audio passed unfiltered because of the switch. */
  bypassed(seconds: number): void;
}

interface SessionSwitch extends FilterSwitch {
  streams: number;
  heard(before: Int16Array, after: Int16Array): void;
}

const LEVELS_KEPT = 100; // ten seconds
const LEVEL_MS = 100;
const SILENCE_DB = -90;

export function createFilterSwitches(): FilterSwitches {
  const switches = new Map<string, SessionSwitch>();

  return {
    of: (sessionId) => switches.get(sessionId),
    put(engine, { sessionId, model, sampleRateHz, bypassed }) {
      const own = switches.get(sessionId) ?? createSwitch(model, sampleRateHz);
      switches.set(sessionId, own);
      own.streams += 1;
      return {
        process(samples) {
          const filtered = engine.process(samples);
          own.heard(samples, filtered);
          if (!own.isBypassed) return filtered;
          bypassed(samples.length / sampleRateHz);
          return samples;
        },
        flush: () => (own.isBypassed ? new Int16Array(0) : engine.flush()),
        get figures() {
          return engine.figures;
        },
        get isBypassed() {
          return own.isBypassed;
        },
        [Symbol.dispose]() {
          own.streams -= 1;
          if (own.streams === 0) switches.delete(sessionId);
          engine[Symbol.dispose]();
        },
      };
    },
  };
}

function createSwitch(model: VoiceFilter, sampleRateHz: number): SessionSwitch {
  const levels: FilterLevel[] = [];
  const window = (sampleRateHz * LEVEL_MS) / 1_000;
  let sums = { before: 0, after: 0, count: 0 };
  let number = 0;

  return {
    streams: 0,
    isBypassed: false,
    heard(before, after) {
      sums.before += energyOf(before);
      sums.after += energyOf(after);
      sums.count += before.length;
      if (sums.count < window) return;
      levels.push({
        number: number++,
        beforeDb: levelDb(sums.before, sums.count),
        afterDb: levelDb(sums.after, sums.count),
      });
      if (levels.length > LEVELS_KEPT) levels.shift();
      sums = { before: 0, after: 0, count: 0 };
    },
    view() {
      return { model, isBypassed: this.isBypassed, levelMs: LEVEL_MS, levels: [...levels] };
    },
  };
}

function energyOf(samples: Int16Array): number {
  let sum = 0;
  for (const sample of samples) sum += sample * sample;
  return sum;
}

function levelDb(energy: number, count: number): number {
  const level = 10 * Math.log10(energy / Math.max(1, count) / 32_768 ** 2);
  return Math.max(SILENCE_DB, Math.round(level * 10) / 10);
}
