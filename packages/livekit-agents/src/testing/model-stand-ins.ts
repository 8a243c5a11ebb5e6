// Models that need no vendor, derived from LiveKit's base classes: phrases are tones on the line, answers are
// hummed.
import { normalizeLanguage, stt, tts, VAD, VADEventType, VADStream, type VADEvent } from "@livekit/agents";
import { AudioFrame } from "@livekit/rtc-node";
import { createHum, createPhrases, hearLoudness } from "../../../../testing/voice-stand-ins.ts";

const WINDOW_MS = 20;
const SPEECH_MS = 60; // until speech is reported
const SILENCE_MS = 240; // until silence is reported

/** Takes all loud sound for speech. */
export class LoudnessVad extends VAD {
  label = "loudness";

  constructor() {
    super({ updateInterval: WINDOW_MS });
  }

  stream(): VADStream {
    return new LoudnessStream(this);
  }
}

class LoudnessStream extends VADStream {
  constructor(vad: LoudnessVad) {
    super(vad);
    void this.#listen();
  }

  async #listen(): Promise<void> {
    const loudness = hearLoudness();
    let frames: AudioFrame[] = [];
    let speechMs = 0;
    let silenceMs = 0;
    let speaking = false;
    let samplesIndex = 0;
    const tell = (type: VADEventType, isLoud: boolean): void => {
      const event: VADEvent = {
        type,
        samplesIndex,
        timestamp: Date.now(),
        speechDuration: speechMs,
        silenceDuration: silenceMs,
        frames: [...frames],
        probability: isLoud ? 1 : 0,
        inferenceDuration: 0,
        speaking,
        rawAccumulatedSilence: silenceMs,
        rawAccumulatedSpeech: speechMs,
      };
      this.sendVADEvent(event);
    };
    for (;;) {
      const { done, value: frame } = await this.inputReader.read();
      if (done) return;
      if (typeof frame === "symbol") continue;
      samplesIndex += frame.samplesPerChannel;
      for (const isLoud of loudness.process(frame.data)) {
        silenceMs = isLoud ? 0 : silenceMs + WINDOW_MS;
        if (isLoud || speaking) speechMs += WINDOW_MS;
        else speechMs = 0;
        if (speechMs > 0) frames.push(frame);
        else frames = [];
        if (!speaking && speechMs >= SPEECH_MS) {
          speaking = true;
          tell(VADEventType.START_OF_SPEECH, isLoud);
        }
        tell(VADEventType.INFERENCE_DONE, isLoud);
        if (!speaking || silenceMs < SILENCE_MS) continue;
        speaking = false;
        tell(VADEventType.END_OF_SPEECH, isLoud);
        speechMs = 0;
        frames = [];
      }
    }
  }
}

/** Recognises phrases by their tones; those among `noises` have no words. */
export class PhraseStt extends stt.STT {
  label = "phrases";
  readonly #phrases: readonly string[];
  readonly #noises: readonly string[];

  constructor(phrases: readonly string[], noises: readonly string[] = []) {
    super({ streaming: false, interimResults: false });
    this.#phrases = phrases;
    this.#noises = noises;
  }

  protected async _recognize(heard: AudioFrame | AudioFrame[]): Promise<stt.SpeechEvent> {
    const frames = [heard].flat();
    const sampleRateHz = frames[0]?.sampleRate ?? 16_000;
    const listener = await createPhrases(this.#phrases)
      .stt({ isStreaming: false })
      .open({ sampleRateHz, partial: () => undefined, signal: new AbortController().signal });
    for (const { data } of frames) listener.write({ samples: data, sampleRateHz });
    const text = await listener.flush();
    return {
      type: stt.SpeechEventType.FINAL_TRANSCRIPT,
      alternatives: [
        {
          text: this.#noises.includes(text) ? "" : text,
          language: normalizeLanguage("en"),
          startTime: 0,
          endTime: 0,
          confidence: 1,
        },
      ],
    };
  }

  stream(): stt.SpeechStream {
    throw new Error("It transcribes whole recordings only");
  }
}

/** Hums, for a fixed time per character. */
export class HumTts extends tts.TTS {
  label = "hum";

  constructor() {
    super(24_000, 1, { streaming: false });
  }

  synthesize(text: string): tts.ChunkedStream {
    return new HumStream(text, this);
  }

  stream(): tts.SynthesizeStream {
    throw new Error("It speaks whole sentences only");
  }
}

class HumStream extends tts.ChunkedStream {
  label = "hum";

  protected async run(): Promise<void> {
    const { signal } = this.abortController;
    for await (const piece of createHum({ tellsWords: false }).speak(this.inputText, {
      signal,
      previousText: "",
    }))
      if ("samples" in piece) {
        const frame = new AudioFrame(piece.samples, piece.sampleRateHz, 1, piece.samples.length);
        this.queue.put({ requestId: "hum", segmentId: "hum", frame, final: false });
      }
  }
}
