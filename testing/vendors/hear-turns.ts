import { samplesIn } from "@vocalhost/audio";
import { hearLoudness, type Phrases } from "../voice-stand-ins.ts";

/** How a model that hears itself would take turns: loud is speech, and 300 ms of silence its end. */
export function createTurnHearing(options: {
  phrases: Phrases;
  sampleRateHz: number;
  started(): void;
  stopped(text: string): void;
}): (samples: Int16Array) => void {
  const { sampleRateHz } = options;
  const loudness = hearLoudness(sampleRateHz);
  const stt = options.phrases
    .stt({ isStreaming: false })
    .open({ sampleRateHz, signal: new AbortController().signal, partial: () => undefined });
  let loud = 0;
  let quiet = 0;
  let isSpeaking = false;
  return (samples) => {
    void Promise.resolve(stt).then((stream) => stream.write({ samples, sampleRateHz }));
    for (const isLoud of loudness.process(samples)) {
      loud = isLoud ? loud + 1 : 0;
      quiet = isLoud ? 0 : quiet + 1;
      if (!isSpeaking && loud * loudness.windowMs >= 100) {
        isSpeaking = true;
        options.started();
      } else if (isSpeaking && quiet * loudness.windowMs >= 300) {
        isSpeaking = false;
        void Promise.resolve(stt)
          .then((stream) => stream.flush())
          .then(options.stopped);
      }
    }
  };
}

/** So much of a hum as a text takes. */
export function humOf(text: string, sampleRateHz: number): Buffer {
  const samples = Int16Array.from({ length: samplesIn(text.length * 40, sampleRateHz) }, (_, at) =>
    Math.round(6_000 * Math.sin(at / 12)),
  );
  return Buffer.from(samples.buffer);
}
