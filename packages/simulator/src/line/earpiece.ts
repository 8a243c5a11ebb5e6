import { samplesIn, type AudioFrame } from "@vocalhost/audio";
import { countChunk, countViolation, type CallTally } from "../call-tally.ts";
import { keyTones } from "../caller/keypad.ts";
import type { BotMessage, BotRequest } from "../carriers/bot-message.ts";
import type { Carrier } from "../carriers/carrier.ts";
import type { Clock } from "../clock.ts";
import type { CallHappening } from "../place-call-options.ts";
import { createPlayback } from "./playback.ts";
import { createVoiceMeter, type VoiceMeter } from "./voice-meter.ts";

/** The caller's ear: takes what the bot sends, as the carrier would, and knows what is heard when. */
export function createEarpiece(options: EarpieceOptions): Earpiece {
  const { carrier, clock, tally, streamMs, dialledMs, send, report } = options;
  const { sampleRateHz } = carrier.downlink;
  const playback = createPlayback({ sampleRateHz, maxMs: options.maxMs });
  const meter = createVoiceMeter({
    sampleRateHz,
    onStart: () => report({ type: "bot-speech-start" }),
    onEnd: () => report({ type: "bot-speech-end" }),
  });
  let listenedTo = 0; // samples
  let cancelMarkTimer = (): void => {};

  function reachMarks(): void {
    for (const name of playback.takeReached(streamMs())) {
      tally.marksReached += 1;
      send(carrier.marked(name));
      report({ type: "mark-reached", name });
    }
    cancelMarkTimer();
    const nextMs = playback.nextMarkMs;
    if (nextMs !== undefined) cancelMarkTimer = clock.setTimer(reachMarks, Math.max(0, nextMs - streamMs()));
  }

  function play(samples: Int16Array): void {
    const lengthMs = (samples.length * 1000) / sampleRateHz;
    const nowMs = streamMs();
    const queued = playback.play(samples, nowMs);
    countChunk(tally, { lengthMs, ...queued });
    tally.firstMediaMs ??= dialledMs();
    const playsInMs = queued.leadMs - lengthMs;
    report({ type: "audio-queued", samples, playsAtMs: dialledMs() + playsInMs });
  }

  function mark(name: string): void {
    tally.marksReceived += 1;
    report({ type: "mark-received", name });
    if (!playback.mark(name, streamMs()))
      return complain({
        request: undefined,
        violations: [{ code: "queue-full", detail: "1000 marks are waiting" }],
      });
    reachMarks();
  }

  function clear(): void {
    const { droppedMs, marks } = playback.clear(streamMs());
    cancelMarkTimer();
    tally.clearsMs.push(streamMs());
    tally.clearedMs += droppedMs;
    report({ type: "audio-cleared", droppedMs });
    const answer = carrier.cleared();
    if (answer !== undefined) send(answer);
    if (!carrier.returnsClearedMarks) return;
    tally.marksReturned += marks.length;
    for (const name of marks) send(carrier.marked(name));
  }

  function carryOut(request: BotRequest): void {
    switch (request.type) {
      case "play":
        return play(request.samples);
      case "mark":
        return mark(request.name);
      case "clear":
        return clear();
      case "press":
        return play(keyTones(request.digits, sampleRateHz));
      default:
        request satisfies never;
    }
  }

  function complain(message: BotMessage): void {
    for (const violation of message.violations) {
      countViolation(tally, violation, dialledMs());
      report({ type: "violation-found", violation });
    }
    const complaint = carrier.complaint(message);
    if (complaint !== undefined) send(complaint);
  }

  function listen(): void {
    const until = samplesIn(streamMs(), sampleRateHz);
    meter.hear(playback.heard.read(listenedTo, until));
    listenedTo = Math.max(listenedTo, until);
  }

  return {
    meter,
    receive(data) {
      const message = typeof data === "string" ? carrier.read(data) : BINARY;
      if (message.violations.length > 0) complain(message);
      if (message.request) carryOut(message.request);
    },
    listen,
    stop() {
      listen();
      tally.cutOffMs = playback.clear(streamMs()).droppedMs;
      cancelMarkTimer();
      meter.finish();
    },
    recording: () => ({ samples: playback.heard.read(0, listenedTo), sampleRateHz }),
  };
}

export interface EarpieceOptions {
  carrier: Carrier;
  clock: Clock;
  tally: CallTally;
  /** Longest call. */
  maxMs: number;
  /** Time since the stream began. */
  streamMs: () => number;
  /** Time since dialling. */
  dialledMs: () => number;
  send: (text: string) => void;
  report: (happening: CallHappening) => void;
}

export interface Earpiece {
  readonly meter: VoiceMeter;
  /** A message of the bot: text, or bytes nobody wants. */
  receive(data: unknown): void;
  /** Catches up with what has been played meanwhile. */
  listen(): void;
  stop(): void;
  recording(): AudioFrame;
}

const BINARY: BotMessage = {
  request: undefined,
  violations: [{ code: "binary-message", detail: "carriers send JSON in text messages" }],
};
