import { createMeter, sharedAudioContext } from "./audio-context.ts";
// oxlint-disable-next-line import/default -- the bundler answers with an address
import captureWorklet from "./capture-worklet.ts?worker&url";
import { MicrophoneMedia } from "./microphone-media.ts";
import { fromPcm } from "./pcm.ts";
import type { PlaybackCommand, PlaybackReport } from "./playback-worklet.ts";
// oxlint-disable-next-line import/default -- the bundler answers with an address
import playbackWorklet from "./playback-worklet.ts?worker&url";

/** Media of a socket: PCM of the microphone goes up, PCM of the bot comes down. */
export class SocketMedia extends MicrophoneMedia {
  playback: PlaybackReport = { bufferedMs: 0, gaps: 0 };
  readonly #player: AudioContext;
  readonly #botMeter: AnalyserNode;
  readonly #captureRateHz: number;
  #capture: AudioWorkletNode | undefined;
  #output: AudioWorkletNode | undefined;
  #sending = false;

  constructor(options: SocketMediaOptions) {
    super(options);
    this.#captureRateHz = options.captureRateHz;
    this.#player = new AudioContext({ sampleRate: options.playbackRateHz });
    this.#botMeter = createMeter(this.#player);
  }

  get botMeter(): AnalyserNode {
    return this.#botMeter;
  }

  override async initialize(): Promise<void> {
    const context = sharedAudioContext();
    await Promise.all([
      context.audioWorklet.addModule(captureWorklet),
      this.#player.audioWorklet.addModule(playbackWorklet),
      this.#player.resume(),
    ]);
    this.#capture = new AudioWorkletNode(context, "capture", {
      numberOfOutputs: 0,
      channelCount: 1,
      channelCountMode: "explicit",
      processorOptions: { sampleRateHz: this.#captureRateHz },
    });
    listen(this.#capture, ({ data: pcm }: MessageEvent<ArrayBuffer>) => {
      if (this.#sending && this.microphone.enabled) this.userAudioCallback?.(pcm);
    });
    this.#output = new AudioWorkletNode(this.#player, "playback", {
      numberOfInputs: 0,
      outputChannelCount: [1],
    });
    listen(this.#output, ({ data }: MessageEvent<PlaybackReport>) => (this.playback = data));
    this.#output.connect(this.#botMeter).connect(this.#player.destination);
    this.#applySpeaker();
    await super.initialize();
  }

  override async connect(): Promise<void> {
    this.#sending = true;
  }

  override async disconnect(): Promise<void> {
    this.#sending = false;
    this.#capture?.disconnect();
    await super.disconnect();
    if (this.#player.state !== "closed") await this.#player.close();
  }

  override bufferBotAudio(pcm: ArrayBuffer | Int16Array): Int16Array {
    const samples = pcm instanceof Int16Array ? pcm : new Int16Array(pcm);
    const write = fromPcm(samples);
    this.#output?.port.postMessage({ write } satisfies PlaybackCommand, [write.buffer]);
    return samples;
  }

  /** The user cut in: what the bot had not said yet stays unsaid. */
  clearBotAudio(): void {
    this.#output?.port.postMessage({ clear: true } satisfies PlaybackCommand);
  }

  /** Resolves when everything the bot has said was heard, or when the time is up. */
  async played(limitMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, limitMs);
    const look = ({ data }: MessageEvent<PlaybackReport>) => {
      if (data.bufferedMs === 0) resolve();
    };
    this.#output?.port.addEventListener("message", look);
    await promise;
    clearTimeout(timer);
    this.#output?.port.removeEventListener("message", look);
  }

  override updateSpeaker(speakerId: string): void {
    super.updateSpeaker(speakerId);
    this.#applySpeaker();
  }

  protected override tapMicrophone(source: MediaStreamAudioSourceNode): void {
    super.tapMicrophone(source);
    if (this.#capture) source.connect(this.#capture);
  }

  #applySpeaker(): void {
    const player = this.#player as AudioContext & { setSinkId?: (id: string) => Promise<void> };
    if (this.speakerId === undefined || !player.setSinkId) return;
    // A speaker that is gone leaves the sound where it was.
    player.setSinkId(this.speakerId).catch(() => {});
  }
}

export interface SocketMediaOptions {
  useMicrophone: boolean;
  microphoneId: string | undefined;
  speakerId: string | undefined;
  captureRateHz: number;
  playbackRateHz: number;
}

function listen(node: AudioWorkletNode, handle: (event: MessageEvent) => void): void {
  node.port.addEventListener("message", handle);
  node.port.start();
}
