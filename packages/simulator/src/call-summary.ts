import type { AudioFrame } from "@vocalhost/audio";
import type { CarrierName } from "@vocalhost/protocol";
import type { CallTally, CountedViolation } from "./call-tally.ts";
import type { Utterance } from "./line/voice-meter.ts";
import type { CallOutcome } from "./place-call-options.ts";

/** Everything there is to know about a call that is over. */
export interface CallReport {
  outcome: CallOutcome;
  summary: CallSummary;
  /** Audio the caller heard, with gaps as silence, since the socket opened. */
  heard: AudioFrame;
  /** Audio the caller sent, likewise. */
  said: AudioFrame;
}

/** A call in figures. Times count from dialling unless they say otherwise. */
export interface CallSummary {
  carrier: CarrierName;
  outcome: CallOutcome;
  /** Until the socket was open; undefined when it never was. */
  connectMs: number | undefined;
  /** From the open socket to the end. */
  durationMs: number;
  /** The bot's first audio message, be it silence. */
  firstMediaMs: number | undefined;
  /** The first sound of the bot the caller could hear. */
  firstAudioMs: number | undefined;
  /** From the end of each utterance of the caller to the bot's next sound. */
  answersMs: number[];
  /** From the caller's cutting in to the bot's clear. */
  interruptionsMs: number[];
  /** How often the bot stopped in the middle although the caller had said nothing. */
  falseInterruptions: number;
  heard: {
    /** Audio of the bot that was played. */
    seconds: number;
    audibleSeconds: number;
    /** Share of the call in which the bot was not heard. */
    silenceRatio: number;
    /** Audio that was still queued when the call ended. */
    cutOffMs: number;
  };
  said: { audibleSeconds: number; chunks: number; lostChunks: number };
  marks: { received: number; reached: number; returnedByClear: number; unanswered: number };
  clears: { count: number; droppedMs: number };
  digits: string;
  traffic: { messagesIn: number; messagesOut: number; bytesIn: number; bytesOut: number };
  pacing: {
    chunks: number;
    /** Most audio that ever waited to be played. */
    largestLeadMs: number;
    /** Chunks that came while more than 250 ms waited. */
    earlyChunks: number;
    /** Chunks before which the queue had run dry within a sentence. */
    lateChunks: number;
    largestGapMs: number;
    /** How late the simulator itself was, at worst; gaps of that size may be its own doing. */
    ownLagMs: number;
  };
  violations: CountedViolation[];
}

export function summarizeCall(facts: CallFacts): CallSummary {
  const { tally, bot, caller, durationMs } = facts;
  const connectMs = tally.connectMs ?? 0;
  const firstHeardMs = bot.utterances[0]?.startMs;
  const playedMs = tally.receivedMs - tally.clearedMs - tally.cutOffMs;
  return {
    carrier: facts.carrier,
    outcome: facts.outcome,
    connectMs: rounded(tally.connectMs),
    durationMs: Math.round(durationMs),
    firstMediaMs: rounded(tally.firstMediaMs),
    firstAudioMs: rounded(firstHeardMs === undefined ? undefined : connectMs + firstHeardMs),
    answersMs: answers(caller.utterances, bot.utterances).map(Math.round),
    interruptionsMs: interruptions(facts).map(Math.round),
    falseInterruptions: falseInterruptions(facts),
    heard: {
      seconds: seconds(playedMs),
      audibleSeconds: seconds(Math.min(bot.loudMs, playedMs)), // a window is loud or not as a whole
      silenceRatio: durationMs > 0 ? Math.round((1 - Math.min(1, bot.loudMs / durationMs)) * 1000) / 1000 : 1,
      cutOffMs: Math.round(tally.cutOffMs),
    },
    said: { audibleSeconds: seconds(caller.loudMs), chunks: tally.chunksOut, lostChunks: tally.chunksLost },
    marks: {
      received: tally.marksReceived,
      reached: tally.marksReached,
      returnedByClear: tally.marksReturned,
      unanswered: tally.marksReceived - tally.marksReached - tally.marksReturned,
    },
    clears: { count: tally.clearsMs.length, droppedMs: Math.round(tally.clearedMs) },
    digits: tally.digits,
    traffic: {
      messagesIn: tally.messagesIn,
      messagesOut: tally.messagesOut,
      bytesIn: tally.bytesIn,
      bytesOut: tally.bytesOut,
    },
    pacing: {
      chunks: tally.chunksIn,
      largestLeadMs: Math.round(tally.largestLeadMs),
      earlyChunks: tally.earlyChunks,
      lateChunks: tally.lateChunks,
      largestGapMs: Math.round(tally.largestGapMs),
      ownLagMs: Math.round(tally.largestLagMs),
    },
    violations: tally.violations.map((violation) => ({
      ...violation,
      firstMs: Math.round(violation.firstMs),
    })),
  };
}

export interface CallFacts {
  carrier: CarrierName;
  outcome: CallOutcome;
  tally: CallTally;
  durationMs: number;
  bot: SpokenSide;
  caller: SpokenSide;
}

/** Times since the stream began. */
export interface SpokenSide {
  readonly utterances: readonly Utterance[];
  readonly loudMs: number;
}

/** A bot that talks while the caller does has not answered yet. */
export function answers(caller: readonly Utterance[], bot: readonly Utterance[]): number[] {
  return caller.flatMap((utterance, index) => {
    const nextStartMs = caller[index + 1]?.startMs ?? Infinity;
    const answer = bot.find(({ startMs }) => startMs >= utterance.endMs && startMs < nextStartMs);
    return answer ? [answer.startMs - utterance.endMs] : [];
  });
}

function interruptions({ tally, caller, bot }: CallFacts): number[] {
  return caller.utterances.flatMap(({ startMs }, index) => {
    const cutsIn = bot.utterances.some((talk) => talk.startMs < startMs && startMs < talk.endMs);
    const nextStartMs = caller.utterances[index + 1]?.startMs ?? Infinity;
    const clearMs = tally.clearsMs.find((atMs) => atMs >= startMs && atMs < nextStartMs);
    return cutsIn && clearMs !== undefined ? [clearMs - startMs] : [];
  });
}

/** Clears in the middle of the bot's words that nothing the caller said can have caused. */
function falseInterruptions({ tally, bot, caller }: CallFacts): number {
  const isIn = (atMs: number, { startMs, endMs }: Utterance, laterMs: number): boolean =>
    atMs >= startMs && atMs <= endMs + laterMs;
  return tally.clearsMs.filter(
    (atMs) =>
      bot.utterances.some((talk) => isIn(atMs, talk, BREATH_MS)) &&
      !caller.utterances.some((talk) => isIn(atMs, talk, REACTION_MAX_MS)),
  ).length;
}

const BREATH_MS = 400; // a bot that is late or between two words has not finished
const REACTION_MAX_MS = 1_500; // for the line, the detector and a busy machine

function rounded(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : Math.round(ms);
}

function seconds(ms: number): number {
  return Math.max(0, Math.round(ms / 10) / 100);
}
