import { samplesIn, type AudioFrame } from "@vocalhost/audio";
import type { Playback } from "../transports/transport.ts";
import { NearTalker } from "./near-talker.ts";
import { createSampleHistory } from "./sample-history.ts";
import { createTurnTracker } from "./turn-tracker.ts";
import type { TurnEndReason, TurnLimits } from "./turn-tracker.ts";
import { createVoiceActivityDetector } from "./voice-activity.ts";
import type { VoiceActivity } from "./voice-activity.ts";

/** Creates a detector that finds where the user starts and stops speaking, and cuts out the speech. */
export function createTurnDetector(options: TurnDetectorOptions = {}): TurnDetector {
  const limits = fillLimits(options);
  const history = createSampleHistory();
  const near = new NearTalker();
  let stream: Stream | undefined;

  function process(frame: AudioFrame): TurnEvent[] {
    stream ??= openStream(frame.sampleRateHz, limits, options);
    const { sampleRateHz, voiceActivity, tracker } = stream;
    if (frame.sampleRateHz !== sampleRateHz) {
      throw new RangeError(`The sample rate changed from ${sampleRateHz} to ${frame.sampleRateHz} Hz`);
    }
    history.push(frame.samples);
    const isCaller = near.hear(frame.nearShare);
    const events: TurnEvent[] = [];
    for (const isSpeech of voiceActivity.process(frame.samples)) {
      options.onWindow?.(isSpeech, voiceActivity.windowMs);
      const decision = tracker.window(isSpeech, isCaller);
      if (decision?.type === "start") events.push({ type: "turn-start" });
      if (decision?.type === "end") {
        const from = samplesIn(decision.audioStartMs, sampleRateHz);
        const samples = history.slice(from, samplesIn(decision.audioEndMs, sampleRateHz));
        const { speechMs: durationMs, reason } = decision;
        events.push({ type: "turn-end", audio: { samples, sampleRateHz }, durationMs, reason });
      }
    }
    history.dropBefore(samplesIn(tracker.keepFromMs, sampleRateHz));
    return events;
  }

  return { process, free: () => stream?.free() };
}

export interface TurnDetectorOptions {
  /** Speech that opens a turn, to the nearest window of 32 ms. @default 100 */
  startMs?: number;
  /** Silence that closes a turn, in milliseconds. @default 700 */
  endSilenceMs?: number;
  /** Audio kept from before the speech, so that first consonants are not lost, in milliseconds. @default 300 */
  preRollMs?: number;
  /** Longest turn, in milliseconds; it is closed while the user continues. At most 600000. @default 60000 */
  maxTurnMs?: number;
  /** Probability above which the detector takes sound for speech, from 0 to 1. @default 0.5 */
  threshold?: number;
  /** Called with the decision for each window, before turns are formed. */
  onWindow?(isSpeech: boolean, windowMs: number): void;
  /** Detects speech; the caller keeps ownership. @default the Silero model */
  voiceActivity?: VoiceActivity;
}

export interface TurnDetector {
  /** Takes frames of any length, all of one rate. */
  process(frame: AudioFrame): TurnEvent[];
  free(): void;
}

export type TurnEvent = TurnStart | TurnEnd;

export interface TurnStart {
  type: "turn-start";
  /** How much of the bot's utterance was heard when this turn silenced it; set by `detectTurns` only. */
  interrupted?: Playback;
}

export interface TurnEnd {
  type: "turn-end";
  /** The speech, with some of the silence around it. */
  audio: AudioFrame;
  /** From the first to the last speech, without the silence around it. */
  durationMs: number;
  reason: TurnEndReason;
}

const MAX_TURN_MS = 600_000; // 38 MB at 32 kHz, since a turn is kept until it ends
const MAX_PRE_ROLL_MS = 10_000;

interface Stream {
  sampleRateHz: number;
  voiceActivity: VoiceActivity;
  tracker: ReturnType<typeof createTurnTracker>;
  free(): void;
}

function openStream(sampleRateHz: number, limits: TurnLimits, options: TurnDetectorOptions): Stream {
  if (options.voiceActivity) {
    const { voiceActivity } = options;
    const tracker = createTurnTracker({ ...limits, windowMs: voiceActivity.windowMs });
    return { sampleRateHz, voiceActivity, tracker, free() {} };
  }
  const detector = createVoiceActivityDetector({ sampleRateHz, threshold: options.threshold });
  const tracker = createTurnTracker({ ...limits, windowMs: detector.windowMs });
  return { sampleRateHz, voiceActivity: detector, tracker, free: () => detector.free() };
}

function fillLimits(options: TurnDetectorOptions): TurnLimits {
  return {
    startMs: checked("startMs", options.startMs ?? 100, MAX_TURN_MS),
    endSilenceMs: checked("endSilenceMs", options.endSilenceMs ?? 700, MAX_TURN_MS),
    preRollMs: checked("preRollMs", options.preRollMs ?? 300, MAX_PRE_ROLL_MS),
    maxTurnMs: checked("maxTurnMs", options.maxTurnMs ?? 60_000, MAX_TURN_MS),
  };
}

function checked(name: string, ms: number, maxMs: number): number {
  if (ms >= 0 && ms <= maxMs) return ms;
  throw new RangeError(`${name} must be from 0 to ${maxMs} ms, not ${ms}`);
}
