import { samplesIn, type AudioFrame } from "@vocalhost/audio";
import { addTo } from "../at-rate.ts";
import type { CallTally } from "../call-tally.ts";
import type { CallerVoice, LineMoment } from "../caller/conversation.ts";
import type { Carrier } from "../carriers/carrier.ts";
import type { Clock } from "../clock.ts";
import type { CallHappening } from "../place-call-options.ts";
import type { Delivery } from "./delivery.ts";
import { createTimeline } from "./timeline.ts";
import { createVoiceMeter, type VoiceMeter } from "./voice-meter.ts";

/** The caller's microphone: turns what is said into the carrier's messages. */
export function createMouthpiece(options: MouthpieceOptions): Mouthpiece {
  const { carrier, clock, voice, delivery, tally, report } = options;
  const { sampleRateHz } = carrier.uplink;
  const chunkSamples = samplesIn(carrier.chunkMs, sampleRateHz);
  const said = createTimeline({ maxSamples: samplesIn(options.maxMs, sampleRateHz) });
  const meter = createVoiceMeter({
    sampleRateHz,
    onStart: () => report({ type: "caller-speech-start" }),
    onEnd: () => report({ type: "caller-speech-end" }),
  });
  let metered = 0; // samples

  return {
    meter,
    speak(line) {
      const samples = voice.next(chunkSamples, line);
      const at = samplesIn(line.atMs, sampleRateHz);
      meter.hear(new Int16Array(Math.max(0, at - metered)));
      meter.hear(samples); // before other sounds are mixed in
      if (options.surroundings) addTo(samples, options.surroundings(samples.length));
      said.write(at, samples);
      metered = at + samples.length;
      if (delivery.losesNext()) {
        tally.chunksLost += 1;
        return;
      }
      tally.chunksOut += 1;
      delivery.sendSound(carrier.media(samples, { streamMs: line.atMs, epochMs: clock.epochMs() }));
    },
    stop: () => meter.finish(),
    recording: () => ({ samples: said.read(0, metered), sampleRateHz }),
  };
}

export interface MouthpieceOptions {
  carrier: Carrier;
  clock: Clock;
  voice: CallerVoice;
  surroundings?: ((samples: number) => Int16Array) | undefined;
  delivery: Delivery;
  tally: CallTally;
  /** Longest call. */
  maxMs: number;
  report: (happening: CallHappening) => void;
}

export interface Mouthpiece {
  readonly meter: VoiceMeter;
  /** One chunk, spoken from `line.atMs` on. */
  speak(line: LineMoment): void;
  stop(): void;
  recording(): AudioFrame;
}
