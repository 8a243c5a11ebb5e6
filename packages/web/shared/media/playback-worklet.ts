import { PlaybackQueue } from "./playback-queue.ts";

/** Runs beside the page: samples of the bot in, an even stream to the speaker out. */

declare const sampleRate: number;
declare function registerProcessor(name: string, processor: unknown): void;
declare class AudioWorkletProcessor {
  readonly port: MessagePort;
}

export type PlaybackCommand = { write: Float32Array } | { clear: true };
export interface PlaybackReport {
  bufferedMs: number;
  gaps: number;
}

const REPORT_EVERY_MS = 250;

class PlaybackProcessor extends AudioWorkletProcessor {
  readonly #queue = new PlaybackQueue({ sampleRateHz: sampleRate });
  #samplesToReport = 0;

  constructor() {
    super();
    this.port.addEventListener("message", ({ data }: MessageEvent<PlaybackCommand>) => {
      if ("write" in data) this.#queue.push(data.write);
      else this.#queue.clear();
    });
    this.port.start();
  }

  process(_inputs: unknown, outputs: Float32Array[][]): boolean {
    const channel = outputs[0]?.[0];
    if (!channel) return true;
    this.#queue.pull(channel);
    this.#samplesToReport -= channel.length;
    if (this.#samplesToReport <= 0) {
      this.#samplesToReport = (sampleRate / 1000) * REPORT_EVERY_MS;
      const { bufferedMs, gaps } = this.#queue;
      this.port.postMessage({ bufferedMs, gaps } satisfies PlaybackReport);
    }
    return true;
  }
}

registerProcessor("playback", PlaybackProcessor);
