import {
  createFramer,
  createResampler,
  FRAME_MS,
  samplesIn,
  type Framer,
  type Resampler,
} from "@vocalhost/audio";
import { toPcm } from "./pcm.ts";

/** Runs beside the page: microphone in, frames of PCM for the socket out. */

declare const sampleRate: number;
declare function registerProcessor(name: string, processor: unknown): void;
declare class AudioWorkletProcessor {
  readonly port: MessagePort;
}

class CaptureProcessor extends AudioWorkletProcessor {
  readonly #resampler: Resampler;
  readonly #framer: Framer;

  constructor(options: { processorOptions: { sampleRateHz: number } }) {
    super();
    const toHz = options.processorOptions.sampleRateHz;
    this.#resampler = createResampler({ fromHz: sampleRate, toHz });
    this.#framer = createFramer({ samplesPerFrame: samplesIn(FRAME_MS, toHz) });
  }

  process(inputs: Float32Array[][]): boolean {
    const channel = inputs[0]?.[0];
    if (!channel) return true;
    for (const { buffer } of this.#framer.push(this.#resampler.process(toPcm(channel)))) {
      this.port.postMessage(buffer, [buffer as ArrayBuffer]);
    }
    return true;
  }
}

registerProcessor("capture", CaptureProcessor);
