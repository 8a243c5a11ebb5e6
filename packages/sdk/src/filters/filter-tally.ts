import { FilterFigures, type FilterStatus } from "@vocalhost/protocol";

/** One stream of audio through the engine. Samples may come out up to 30 ms later than they went in. */
export interface VoiceEngine extends Disposable {
  process(samples: Int16Array): Int16Array;
  flush(): Int16Array;
  /** Whether audio passes untouched now. */
  readonly isBypassed?: boolean;
  /** Version of its model. */
  readonly version?: string;
  readonly figures: {
    framesIn: number;
    framesFiltered: number;
    nearShare?: number;
    levelRemovedDb?: number;
    cpuMs?: number;
  };
}

/** Counters over all streams of a session. */
export interface FilterTally {
  /** Wraps the engine and counts everything it does. */
  watch(engine: VoiceEngine, sampleRateHz: number): VoiceEngine;
  /** Counts a failure outside of a watched engine. */
  failed(): void;
  bypassed(seconds: number): void;
  state(): Exclude<FilterStatus["state"], "unavailable">;
  sums(): Pick<FilterStatus, "framesIn" | "framesFiltered" | "figures">;
}

interface StreamSums {
  framesIn: number;
  framesFiltered: number;
  version: string | null;
  seconds: number;
  /** Levels are weighted by the measured frames, so that streams can be added. */
  nearFrames: number;
  levelFrames: number;
  cpuMs: number;
}

export function createFilterTally(): FilterTally {
  const open = new Set<() => StreamSums>();
  let ended: StreamSums | undefined;
  let failures = 0;
  let bypassedSeconds = 0;

  function noting<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      failures += 1;
      throw error;
    }
  }

  function total(): StreamSums | undefined {
    return [...open].reduce<StreamSums | undefined>((sum, read) => plus(sum, read()), ended);
  }

  return {
    watch(engine, sampleRateHz) {
      let samplesIn = 0;
      const read = (): StreamSums => readEngine(engine, samplesIn / sampleRateHz);
      open.add(read);
      return {
        process(samples) {
          samplesIn += samples.length;
          return noting(() => engine.process(samples));
        },
        flush: () => noting(() => engine.flush()),
        get figures() {
          return engine.figures;
        },
        [Symbol.dispose]() {
          if (open.delete(read)) ended = plus(ended, read());
          engine[Symbol.dispose]();
        },
      };
    },
    failed() {
      failures += 1;
    },
    bypassed(seconds) {
      bypassedSeconds += seconds;
    },
    state() {
      if (failures > 0) return "failed";
      return ended || open.size > 0 ? "ran" : "not-attached";
    },
    sums() {
      const sums = total();
      const frames = sums?.framesFiltered ?? 0;
      return {
        framesIn: sums?.framesIn ?? 0,
        framesFiltered: frames,
        figures: {
          version: sums?.version ?? null,
          seconds: rounded(sums?.seconds ?? 0, 2),
          nearShare: sums && frames > 0 ? rounded(Math.min(1, sums.nearFrames / frames), 4) : null,
          levelRemovedDb: sums && frames > 0 ? rounded(sums.levelFrames / frames, 1) : null,
          cpuMs: rounded(sums?.cpuMs ?? 0, 1),
          bypassedSeconds: rounded(bypassedSeconds, 2),
          failures,
        },
      };
    },
  };
}

function readEngine({ figures, version }: VoiceEngine, seconds: number): StreamSums {
  const { framesIn, framesFiltered, nearShare = 0, levelRemovedDb = 0, cpuMs = 0 } = figures;
  return {
    framesIn,
    framesFiltered,
    // The service rejects a record with an invalid version, and all figures would be lost.
    version: FilterFigures.shape.version.safeParse(version).data ?? null,
    seconds,
    nearFrames: nearShare * framesFiltered,
    levelFrames: levelRemovedDb * framesFiltered,
    cpuMs,
  };
}

function plus(one: StreamSums | undefined, other: StreamSums): StreamSums {
  if (!one) return other;
  return {
    framesIn: one.framesIn + other.framesIn,
    framesFiltered: one.framesFiltered + other.framesFiltered,
    version: other.version ?? one.version,
    seconds: one.seconds + other.seconds,
    nearFrames: one.nearFrames + other.nearFrames,
    levelFrames: one.levelFrames + other.levelFrames,
    cpuMs: one.cpuMs + other.cpuMs,
  };
}

function rounded(value: number, digits: number): number {
  return Number(value.toFixed(digits)) + 0; // avoids -0
}
