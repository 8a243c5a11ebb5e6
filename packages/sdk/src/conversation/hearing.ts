import { createVoiceActivityDetector } from "../speech/voice-activity.ts";
import { adaptiveSilence } from "../speech/end-of-turn.ts";
import { gateVolume } from "../speech/volume-gate.ts";
import type { Transport } from "../transports/transport.ts";
import type { TurnOptions } from "./conversation-options.ts";
import { listen, type ListenOptions } from "./listen.ts";
import { createReplayingTranscriber } from "./replaying-transcriber.ts";
import type { ServiceFailure } from "./service-failure.ts";
import type { SpeechToText } from "./services.ts";

/** The listening side of a conversation. */
export interface Hearing extends AsyncDisposable {
  readonly ended: Promise<void>;
  /** When the speech ended whose text is not known yet, by `performance.now()`. */
  readonly waitsSinceMs: number | undefined;
}

export interface HearingOptions extends Pick<
  ListenOptions,
  "started" | "understood" | "ended" | "failed" | "signal" | "botWasHeard"
> {
  transport: Transport;
  stt: SpeechToText;
  turn: TurnOptions;
  limitMs: number;
  transcriberFailed(failure: ServiceFailure, isOutage: boolean): void;
}

/** Opens the voice activity detector and the transcriber, and follows the user's turns. */
export async function openHearing(options: HearingOptions): Promise<Hearing> {
  const { turn, signal } = options;
  const audioIn = turn.audioIn ?? options.transport.audioIn;
  const { sampleRateHz } = audioIn;
  await using stack = new AsyncDisposableStack();
  let partial: (text: string) => void = () => undefined;
  const stt = createReplayingTranscriber({
    stt: options.stt,
    sampleRateHz,
    limitMs: options.limitMs,
    signal,
    partial: (text) => partial(text),
    failed: options.transcriberFailed,
  });
  stack.defer(() => stt.close?.());
  const detector = turn.voiceActivity ?? openDetector();
  const gate = turn.volumeGate ?? true;
  const voiceActivity =
    gate === false ? detector : gateVolume(detector, { sampleRateHz, ...(gate === true ? {} : gate) });
  const listening = listen({
    audioIn,
    voiceActivity,
    stt,
    endOfTurn: turn.endOfTurn ?? adaptiveSilence(),
    limits: {
      startMs: turn.startMs ?? 100,
      stopMs: turn.stopMs ?? 200,
      preRollMs: turn.preRollMs ?? 300,
      maxStretchMs: turn.maxStretchMs ?? 60_000,
    },
    signal,
    nowMs: () => performance.now(),
    started: options.started,
    understood: options.understood,
    ended: options.ended,
    botWasHeard: options.botWasHeard,
    failed: options.failed,
  });
  partial = (text) => listening.partial(text);
  stack.defer(() => listening.stop());
  const owned = stack.move();
  return {
    ended: listening.ended,
    get waitsSinceMs() {
      return listening.waitsSinceMs;
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };

  function openDetector(): ReturnType<typeof createVoiceActivityDetector> {
    const opened = createVoiceActivityDetector({ sampleRateHz, threshold: turn.threshold });
    stack.defer(() => opened.free());
    return opened;
  }
}
