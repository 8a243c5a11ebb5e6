import { createMeter, sharedAudioContext } from "./audio-context.ts";
import { MicrophoneMedia } from "./microphone-media.ts";

/** Media of a peer connection: it carries the microphone's track, and brings the bot's. */
export class PeerMedia extends MicrophoneMedia {
  /** The browser wants a click before it plays sound. */
  onPlaybackBlocked: (() => void) | undefined;
  readonly #element = new Audio();
  #botTrack: MediaStreamTrack | undefined;
  #botSource: MediaStreamAudioSourceNode | undefined;
  #botMeter: AnalyserNode | undefined;

  get botMeter(): AnalyserNode | undefined {
    return this.#botMeter;
  }

  /** A rebuilt peer connection brings a new track. */
  playBot(track: MediaStreamTrack): void {
    if (track === this.#botTrack) return;
    this.#botTrack = track;
    const stream = new MediaStream([track]);
    this.#element.srcObject = stream;
    this.#applySpeaker();
    this.play();
    const context = sharedAudioContext();
    this.#botSource?.disconnect();
    this.#botSource = context.createMediaStreamSource(stream);
    this.#botMeter ??= createMeter(context);
    this.#botSource.connect(this.#botMeter);
  }

  play(): void {
    this.#element.play().catch((error: unknown) => {
      if (error instanceof Error && error.name === "NotAllowedError") this.onPlaybackBlocked?.();
    });
  }

  override updateSpeaker(speakerId: string): void {
    super.updateSpeaker(speakerId);
    this.#applySpeaker();
  }

  override async disconnect(): Promise<void> {
    this.#element.pause();
    this.#element.srcObject = null;
    this.#botSource?.disconnect();
    await super.disconnect();
  }

  #applySpeaker(): void {
    if (this.speakerId === undefined || !("setSinkId" in this.#element)) return;
    // A speaker that is gone leaves the sound where it was.
    this.#element.setSinkId(this.speakerId).catch(() => {});
  }
}
