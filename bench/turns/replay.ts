import { FRAME_MS, samplesIn, type AudioFrame } from "@vocalhost/audio";
import { setImmediate } from "node:timers/promises";
import type { EndOfTurn, VoiceActivity } from "vocalhost";
import { listen } from "../../packages/sdk/src/conversation/listen.ts";
import { createBoundedStream } from "../../packages/sdk/src/transports/bounded-stream.ts";
import type { SpokenTurn } from "./spoken-turn.ts";
import { RATE_HZ } from "./voices.ts";

export interface Replay {
  /** Taken to be over while it was not. */
  wasCut: boolean;
  /** From the last word to the decision; undefined where none came. */
  delayMs: number | undefined;
}

export interface ReplayOptions {
  voiceActivity: VoiceActivity;
  endOfTurn: EndOfTurn;
  /** How long the transcriber takes. */
  textMs: number;
  /** How long the judge takes, from where the pause begins. */
  judgeMs: number;
  /** How the transcriber writes. */
  write(text: string): string;
}

const LAST_SOUND_MS = 250; // a last syllable that fades away is no word that was cut

/** Plays a turn to the listening part of a conversation, on a clock that only the sound moves. */
export async function replay(turn: SpokenTurn, options: ReplayOptions): Promise<Replay> {
  const frames = createBoundedStream<AudioFrame>({ maxItems: 10_000, name: "bench" });
  const clock = createClock();
  const endedAtMs: number[] = [];
  const errors: unknown[] = [];
  let flushedAtMs = 0;
  let judgedAtMs = 0;
  const listening = listen({
    audioIn: Object.assign(frames, {
      sampleRateHz: RATE_HZ,
      droppedFrames: 0,
      flush: () => undefined,
      tee: () => {
        throw new Error("Nobody else listens");
      },
    }),
    voiceActivity: options.voiceActivity,
    stt: {
      write: () => undefined,
      async flush() {
        const before = turn.textAt(flushedAtMs);
        flushedAtMs = clock.nowMs;
        const text = turn.textAt(flushedAtMs).slice(before.length).trim();
        await clock.at(clock.nowMs + options.textMs);
        return options.write(text);
      },
    },
    endOfTurn: {
      paused(pause) {
        judgedAtMs = clock.nowMs + options.judgeMs;
        options.endOfTurn.paused?.(pause);
      },
      async silenceMs(pause) {
        const silenceMs = await clock.during(Promise.resolve(options.endOfTurn.silenceMs(pause)));
        if (clock.nowMs < judgedAtMs) await clock.at(judgedAtMs);
        return silenceMs;
      },
      spokeOn: (silenceMs) => options.endOfTurn.spokeOn?.(silenceMs),
    },
    limits: { startMs: 100, stopMs: 200, preRollMs: 300, maxStretchMs: 60_000 },
    signal: new AbortController().signal,
    nowMs: () => clock.nowMs,
    started: () => undefined,
    understood: () => undefined,
    ended: ({ decidedAtMs }) => void endedAtMs.push(decidedAtMs),
    botWasHeard: () => false,
    failed: (error) => void errors.push(error),
  });
  const perFrame = samplesIn(FRAME_MS, RATE_HZ);
  for (let at = 0; at + perFrame <= turn.samples.length; at += perFrame) {
    frames.push({ samples: turn.samples.slice(at, at + perFrame), sampleRateHz: RATE_HZ });
    await clock.forward(FRAME_MS);
  }
  frames.end();
  await listening.ended;
  if (errors.length > 0) throw errors[0];
  const overMs = turn.lastWordMs - LAST_SOUND_MS;
  const end = endedAtMs.find((ms) => ms >= overMs);
  return {
    wasCut: endedAtMs.some((ms) => ms < overMs),
    delayMs: end === undefined ? undefined : end - turn.lastWordMs,
  };
}

/** Time that stands still while something is being worked out. */
function createClock(): {
  readonly nowMs: number;
  at(ms: number): Promise<void>;
  during<T>(work: Promise<T>): Promise<T>;
  forward(ms: number): Promise<void>;
} {
  let nowMs = 0;
  let due: { ms: number; resolve(): void }[] = [];
  const working = new Set<Promise<unknown>>();
  return {
    get nowMs() {
      return nowMs;
    },
    at(ms) {
      const { promise, resolve } = Promise.withResolvers<void>();
      due.push({ ms, resolve });
      return promise;
    },
    async during(work) {
      working.add(work);
      try {
        return await work;
      } finally {
        working.delete(work);
      }
    },
    async forward(ms) {
      nowMs += ms;
      await setImmediate();
      for (const each of due.filter((one) => one.ms <= nowMs)) each.resolve();
      due = due.filter((one) => one.ms > nowMs);
      await setImmediate();
      await Promise.allSettled(working);
    },
  };
}
