import { ReadableStream } from "node:stream/web";
import { voice } from "@livekit/agents";
import { AudioFrame } from "@livekit/rtc-node";
import type { AudioInput } from "vocalhost";

/** What the user says, as an `AgentSession` wants to hear it. */
export class SessionAudioInput extends voice.AudioInput {
  #isAttached = true;

  constructor(audioIn: AudioInput) {
    super();
    this.multiStream.addInputStream(ReadableStream.from(this.#frames(audioIn)));
  }

  override setAttached(attached: boolean): void {
    this.#isAttached = attached;
  }

  async *#frames(audioIn: AudioInput): AsyncGenerator<AudioFrame> {
    for await (const { samples, sampleRateHz } of audioIn) {
      if (!this.#isAttached) continue; // muted by `session.input.setAudioEnabled(false)`
      // Native code reads a frame's memory from its very beginning, whatever part of it is the frame.
      const own = samples.byteLength === samples.buffer.byteLength ? samples : samples.slice();
      yield new AudioFrame(own, sampleRateHz, 1, own.length);
    }
  }
}
