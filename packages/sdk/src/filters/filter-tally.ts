import { FilterFigures, type FilterStatus } from "@vocalhost/protocol";

/** One stream of audio on its way through the engine; may give samples up to 30 ms later than they came. */
export interface VoiceEngine extends Disposable {
  process(samples: Int16Array): Int16Array;
  flush(): Int16Array;
  /** Of its model. */
  readonly version?: string;
  readonly figures: {
    framesIn: number;
    framesFiltered: number;
    nearShare?: number;
    levelRemovedDb?: number;
    cpuMs?: number;
  };
}

/** What all streams of a session did. */
export interface FilterTally {
  /** The engine, with everything it does noted. */
  watch(engine: VoiceEngine, sampleRateHz: number): VoiceEngine;
  /** Of what happened outside of a watched engine. */
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
  /** Weighted by the frames they were measured on, so that streams can be added. */
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
        figures: FilterFigures.parse({
          version: sums?.version ?? null,
          seconds: rounded(sums?.seconds ?? 0, 2),
          nearShare: sums && frames > 0 ? rounded(Math.min(1, sums.nearFrames / frames), 4) : null,
          levelRemovedDb: sums && frames > 0 ? rounded(sums.levelFrames / frames, 1) : null,
          cpuMs: rounded(sums?.cpuMs ?? 0, 1),
          bypassedSeconds: rounded(bypassedSeconds, 2),
          failures,
        }),
      };
    },
  };
}

/** A record that cannot be read would cost the session its length, so an engine is not believed blindly. */
function readEngine(engine: VoiceEngine, seconds: number): StreamSums {
  const { figures, version } = readOrNothing(engine);
  const framesFiltered = countOf(figures.framesFiltered);
  return {
    framesIn: countOf(figures.framesIn),
    framesFiltered,
    version: FilterFigures.shape.version.safeParse(version).data ?? null,
    seconds,
    nearFrames: Math.min(1, amountOf(figures.nearShare)) * framesFiltered,
    levelFrames: finiteOf(figures.levelRemovedDb) * framesFiltered,
    cpuMs: amountOf(figures.cpuMs),
  };
}

function readOrNothing(engine: VoiceEngine): {
  figures: Partial<VoiceEngine["figures"]>;
  version: unknown;
} {
  try {
    return { figures: engine.figures ?? {}, version: engine.version };
  } catch {
    return { figures: {}, version: null };
  }
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

function countOf(value: unknown): number {
  return Number.isSafeInteger(value) ? Math.max(0, value as number) : 0;
}

function amountOf(value: unknown): number {
  return Math.max(0, finiteOf(value));
}

function finiteOf(value: unknown): number {
  return Number.isFinite(value) ? (value as number) : 0;
}

function rounded(value: number, digits: number): number {
  return Number(finiteOf(value).toFixed(digits)) + 0; // no minus before a zero
}
