import { samplesIn, type AudioFrame } from "@vocalhost/audio";
import { countChunk, countViolation, type CallTally } from "../call-tally.ts";
import { keyTones } from "../caller/keypad.ts";
import type { BotMessage, BotRequest } from "../carriers/bot-message.ts";
import type { Carrier } from "../carriers/carrier.ts";
import type { Clock } from "../clock.ts";
import type { CallHappening } from "../place-call-options.ts";
import { createPlayback, type Playback } from "./playback.ts";
import { createVoiceMeter, type VoiceMeter } from "./voice-meter.ts";

/** The caller's receiver: plays the bot's messages as the carrier would, and tracks when each sample is heard. */
export function createEarpiece(options: EarpieceOptions): Earpiece {
  return new Receiver(options);
}

class Receiver implements Earpiece {
  readonly meter: VoiceMeter;
  readonly #options: EarpieceOptions;
  readonly #sampleRateHz: number;
  readonly #playback: Playback;
  #listenedTo = 0; // samples
  #cancelMarkTimer = (): void => {};

  constructor(options: EarpieceOptions) {
    const { carrier, maxMs, report } = options;
    const { sampleRateHz } = carrier.downlink;
    this.#options = options;
    this.#sampleRateHz = sampleRateHz;
    this.#playback = createPlayback({ sampleRateHz, maxMs });
    this.meter = createVoiceMeter({
      sampleRateHz,
      onStart: () => report({ type: "bot-speech-start" }),
      onEnd: () => report({ type: "bot-speech-end" }),
    });
  }

  receive(data: unknown): void {
    const message = typeof data === "string" ? this.#options.carrier.read(data) : BINARY;
    if (message.violations.length > 0) this.#complain(message);
    if (message.request) this.#carryOut(message.request);
  }

  listen(): void {
    const until = samplesIn(this.#options.streamMs(), this.#sampleRateHz);
    this.meter.hear(this.#playback.heard.read(this.#listenedTo, until));
    this.#listenedTo = Math.max(this.#listenedTo, until);
  }

  stop(): void {
    const { tally, streamMs } = this.#options;
    this.listen();
    tally.cutOffMs = this.#playback.clear(streamMs()).droppedMs;
    this.#cancelMarkTimer();
    this.meter.finish();
  }

  recording(): AudioFrame {
    return { samples: this.#playback.heard.read(0, this.#listenedTo), sampleRateHz: this.#sampleRateHz };
  }

  #carryOut(request: BotRequest): void {
    switch (request.type) {
      case "play":
        return this.#play(request.samples);
      case "mark":
        return this.#mark(request.name);
      case "clear":
        return this.#clear();
      case "press":
        return this.#play(keyTones(request.digits, this.#sampleRateHz));
      default:
        request satisfies never;
    }
  }

  #play(samples: Int16Array): void {
    const { tally, streamMs, dialledMs, report } = this.#options;
    const lengthMs = (samples.length * 1000) / this.#sampleRateHz;
    const queued = this.#playback.play(samples, streamMs());
    countChunk(tally, { lengthMs, ...queued });
    tally.firstMediaMs ??= dialledMs();
    const playsInMs = queued.leadMs - lengthMs;
    report({ type: "audio-queued", samples, playsAtMs: dialledMs() + playsInMs });
  }

  #mark(name: string): void {
    const { tally, streamMs, report } = this.#options;
    tally.marksReceived += 1;
    report({ type: "mark-received", name });
    if (this.#playback.mark(name, streamMs())) return this.#reachMarks();
    return this.#complain({
      request: undefined,
      violations: [{ code: "queue-full", detail: "1000 marks are waiting" }],
    });
  }

  #reachMarks(): void {
    const { carrier, clock, tally, streamMs, send, report } = this.#options;
    for (const name of this.#playback.takeReached(streamMs())) {
      tally.marksReached += 1;
      send(carrier.marked(name));
      report({ type: "mark-reached", name });
    }
    this.#cancelMarkTimer();
    const nextMs = this.#playback.nextMarkMs;
    if (nextMs === undefined) return;
    this.#cancelMarkTimer = clock.setTimer(() => this.#reachMarks(), Math.max(0, nextMs - streamMs()));
  }

  #clear(): void {
    const { carrier, tally, streamMs, send, report } = this.#options;
    const { droppedMs, marks } = this.#playback.clear(streamMs());
    this.#cancelMarkTimer();
    tally.clearsMs.push(streamMs());
    tally.clearedMs += droppedMs;
    report({ type: "audio-cleared", droppedMs });
    const answer = carrier.cleared();
    if (answer !== undefined) send(answer);
    if (!carrier.returnsClearedMarks) return;
    tally.marksReturned += marks.length;
    for (const name of marks) send(carrier.marked(name));
  }

  #complain(message: BotMessage): void {
    const { carrier, tally, dialledMs, send, report } = this.#options;
    for (const violation of message.violations) {
      countViolation(tally, violation, dialledMs());
      report({ type: "violation-found", violation });
    }
    const complaint = carrier.complaint(message);
    if (complaint !== undefined) send(complaint);
  }
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
  /** A message of the bot. Carriers send text; bytes are a violation. */
  receive(data: unknown): void;
  /** Measures the audio played since the last call. */
  listen(): void;
  stop(): void;
  recording(): AudioFrame;
}

const BINARY: BotMessage = {
  request: undefined,
  violations: [{ code: "binary-message", detail: "carriers send JSON in text messages" }],
};
