import { Resampler } from "./resampler.ts";
import { toPcm } from "./pcm.ts";

/** Runs beside the page: microphone in, 20 ms blocks of PCM for the socket out. */

declare const sampleRate: number;
declare function registerProcessor(name: string, processor: unknown): void;
declare class AudioWorkletProcessor {
  readonly port: MessagePort;
}

const BLOCK_MS = 20;

class CaptureProcessor extends AudioWorkletProcessor {
  readonly #resampler: Resampler;
  readonly #block: Float32Array;
  #filled = 0;

  constructor(options: { processorOptions: { sampleRateHz: number } }) {
    super();
    const toHz = options.processorOptions.sampleRateHz;
    this.#resampler = new Resampler({ fromHz: sampleRate, toHz });
    this.#block = new Float32Array((toHz / 1000) * BLOCK_MS);
  }

  process(inputs: Float32Array[][]): boolean {
    const channel = inputs[0]?.[0];
    if (channel) for (const sample of this.#resampler.push(channel)) this.#put(sample);
    return true;
  }

  #put(sample: number): void {
    this.#block[this.#filled++] = sample;
    if (this.#filled < this.#block.length) return;
    const pcm = toPcm(this.#block).buffer;
    this.port.postMessage(pcm, [pcm]);
    this.#filled = 0;
  }
}

registerProcessor("capture", CaptureProcessor);
