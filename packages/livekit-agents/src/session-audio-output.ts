import { voice } from "@livekit/agents";
import type { AudioFrame } from "@livekit/rtc-node";
import type { SpeechPlayer } from "./speech-player.ts";

/**
 * The audio output of an `AgentSession`. It learns from the transport what was heard, instead of estimating by a
 * clock.
 */
export class SessionAudioOutput extends voice.AudioOutput {
  readonly #player: SpeechPlayer;

  constructor(player: SpeechPlayer) {
    // Takes any rate: the transport resamples with less delay than LiveKit's resampler.
    super(undefined, undefined, { pause: true });
    this.#player = player;
    player.on("started", () => this.onPlaybackStarted(Date.now()));
    player.on("finished", ({ playedMs, interrupted, heard }) => {
      super.flush();
      this.onPlaybackFinished({
        playbackPosition: playedMs / 1000,
        interrupted,
        ...(heard === undefined ? {} : { synchronizedTranscript: heard }),
      });
    });
  }

  override async captureFrame(frame: AudioFrame): Promise<void> {
    // Plays one segment at a time: the next begins when the one before was heard.
    if (this.#player.isFinishing) await this.waitForPlayout();
    await super.captureFrame(frame);
    await this.#player.write({ samples: toMono(frame), sampleRateHz: frame.sampleRate });
  }

  override flush(): void {
    super.flush();
    this.#player.endSound();
  }

  clearBuffer(): void {
    this.#player.cut();
  }

  override pause(): void {
    this.#player.pause();
  }

  override resume(): void {
    this.#player.resume();
  }

  override onAttached(): void {
    this.#player.isAudible = true;
  }

  override onDetached(): void {
    this.#player.isAudible = false;
  }
}

function toMono({ data, channels, samplesPerChannel }: AudioFrame): Int16Array {
  if (channels === 1) return data;
  return Int16Array.from({ length: samplesPerChannel }, (_, at) => {
    let sum = 0;
    for (let channel = 0; channel < channels; channel += 1) sum += data[at * channels + channel] ?? 0;
    return Math.round(sum / channels);
  });
}
