import type { AudioFrame } from "@vocalhost/audio";
import type { AudioOutput } from "../transports/transport.ts";

export interface FrameQueueOptions<Owner> {
  audioOut: AudioOutput;
  signal: AbortSignal;
  /** Called for each frame once the output has it. */
  written(frame: AudioFrame, owner: Owner): void;
}

/** Frames that wait for space in the output: a speech model generates faster than real time. */
export class FrameQueue<Owner> {
  readonly #options: FrameQueueOptions<Owner>;
  readonly #waiting: { frame: AudioFrame; owner: Owner }[] = [];
  #isWriting = false;

  constructor(options: FrameQueueOptions<Owner>) {
    this.#options = options;
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /** Whether every frame was written or cleared. */
  get isDone(): boolean {
    return this.isEmpty && !this.#isWriting;
  }

  get isWriting(): boolean {
    return this.#isWriting;
  }

  push(frame: AudioFrame, owner: Owner): void {
    this.#waiting.push({ frame, owner });
  }

  clear(): void {
    this.#waiting.length = 0;
  }

  /** Writes until the queue is empty. Returns at once when an earlier call is still writing. */
  async write(): Promise<void> {
    if (this.#isWriting) return;
    this.#isWriting = true;
    const { audioOut, signal, written } = this.#options;
    try {
      for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) {
        const hasSpace = audioOut.write(next.frame);
        written(next.frame, next.owner);
        if (!hasSpace) await audioOut.ready({ signal });
      }
    } finally {
      this.#isWriting = false;
    }
  }
}
