import { samplesIn, type AudioFrame } from "@vocalhost/audio";
import type {
  LanguageModel,
  LanguageModelRequest,
  SpeechToText,
  TextToSpeech,
  ToolCall,
} from "../conversation/services.ts";
import type { VoiceActivity } from "../speech/voice-activity.ts";
import { timeWords } from "../speech/words.ts";

// Services that need no vendor: phrases are tones on the line, over any codec, and answers are scripted.

/** Phrases that the user can say. Each is a tone of its own. */
export interface Phrases {
  /** Returns the phrase as sound; its length follows from the text unless given. */
  say(text: string, options: { sampleRateHz: number; ms?: number }): AudioFrame;
  /**
   * Recognises phrases by their tones. It reports words as they are said, or with `isStreaming: false` after each
   * recording.
   */
  stt(options?: { isStreaming?: boolean; delayMs?: number }): SpeechToText;
}

const MS_PER_WORD = 250;
const LEVEL = 8_000;

export function createPhrases(texts: readonly string[]): Phrases {
  const pitch = (at: number): number => 400 + at * 80;
  if (pitch(texts.length) > 3_200) throw new RangeError("More phrases than a telephone line can tell apart");

  function heard(pieces: readonly Int16Array[], sampleRateHz: number): { text: string; ms: number } {
    const loud = pieces.flatMap((piece) => [...piece]).filter(createLoudness());
    let crossings = 0;
    for (let at = 1; at < loud.length; at += 1) if (loud[at - 1]! < 0 && loud[at]! >= 0) crossings += 1;
    const seconds = loud.length / sampleRateHz;
    if (seconds < 0.04) return { text: "", ms: 0 };
    const at = Math.round((crossings / seconds - pitch(0)) / 80);
    return { text: texts[Math.max(0, Math.min(at, texts.length - 1))] ?? "", ms: seconds * 1000 };
  }

  return {
    say(text, { sampleRateHz, ms = text.split(" ").length * MS_PER_WORD }) {
      const at = texts.indexOf(text);
      if (at === -1) throw new Error(`Not one of the phrases: ${text}`);
      const step = (2 * Math.PI * pitch(at)) / sampleRateHz;
      const samples = Int16Array.from({ length: samplesIn(ms, sampleRateHz) }, (_, sample) =>
        Math.round(LEVEL * Math.sin(step * sample)),
      );
      return { samples, sampleRateHz };
    },
    stt: ({ isStreaming = true, delayMs = 0 } = {}) => ({
      name: "phrases",
      open({ sampleRateHz, partial }) {
        let pieces: Int16Array[] = [];
        let told = 0;
        return {
          write({ samples }) {
            pieces.push(samples.slice());
            if (!isStreaming) return;
            const { text, ms } = heard(pieces, sampleRateHz);
            const words = text.split(" ").slice(0, Math.floor(ms / MS_PER_WORD));
            if (words.length > told) partial(words.join(" "));
            told = words.length;
          },
          async flush() {
            const { text } = heard(pieces, sampleRateHz);
            pieces = [];
            told = 0;
            if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
            return text;
          },
        };
      },
    }),
  };
}

/** Ignores silence and the noise of codecs. */
function createLoudness(): (sample: number) => boolean {
  let envelope = 0;
  return (sample) => {
    envelope = Math.max(Math.abs(sample), envelope * 0.98);
    return envelope > LEVEL / 4;
  };
}

/** Takes all loud sound for speech, since a voice detector ignores tones. */
export function hearLoudness(sampleRateHz = 16_000): VoiceActivity {
  const windowMs = 20;
  const window = samplesIn(windowMs, sampleRateHz);
  let rest = new Int16Array(0);
  return {
    windowMs,
    process(samples) {
      const all = new Int16Array(rest.length + samples.length);
      all.set(rest);
      all.set(samples, rest.length);
      const windows = Math.floor(all.length / window);
      rest = all.slice(windows * window);
      return Array.from({ length: windows }, (_, at) =>
        all.subarray(at * window, (at + 1) * window).some((sample) => Math.abs(sample) > LEVEL / 4),
      );
    },
  };
}

export interface Hum extends TextToSpeech {
  /** All sentences it was given. */
  readonly spoken: string[];
}

/** Creates a voice that hums, for a fixed time per character. It reports word times unless told not to. */
export function createHum(
  options: { msPerCharacter?: number; delayMs?: number; tellsWords?: boolean } = {},
): Hum {
  const { msPerCharacter = 40, delayMs = 0, tellsWords = true } = options;
  const sampleRateHz = 24_000;
  const spoken: string[] = [];
  return {
    name: "hum",
    spoken,
    async *speak(text, { signal }) {
      spoken.push(text);
      if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
      const lengthMs = text.length * msPerCharacter;
      if (tellsWords) yield { words: timeWords(text, lengthMs) };
      for (let atMs = 0; atMs < lengthMs && !signal.aborted; atMs += 100) {
        const ms = Math.min(100, lengthMs - atMs);
        const samples = Int16Array.from({ length: samplesIn(ms, sampleRateHz) }, (_, at) =>
          Math.round(6_000 * Math.sin(at / 12)),
        );
        yield { samples, sampleRateHz };
      }
    },
  };
}

export interface ScriptedModel extends LanguageModel {
  readonly requests: LanguageModelRequest[];
}

/** Creates a model with scripted answers: text in pieces as models write it, and tool calls. */
export function createScriptedModel(
  answer: (request: LanguageModelRequest) => string | (string | ToolCall)[],
  options: { pieceMs?: number } = {},
): ScriptedModel {
  const requests: LanguageModelRequest[] = [];
  return {
    name: "script",
    requests,
    async *respond(request) {
      requests.push(request);
      for (const part of [answer(request)].flat()) {
        if (typeof part !== "string") yield part;
        else
          for (const piece of part.match(/\s*\S+/g) ?? []) {
            if (options.pieceMs) await new Promise((resolve) => setTimeout(resolve, options.pieceMs));
            if (request.signal.aborted) return;
            yield piece;
          }
      }
      yield { type: "usage", inputTokens: request.messages.length, outputTokens: 1 };
    },
  };
}

export function toolCall(name: string, args: unknown, id = `call-${name}`): ToolCall {
  return { type: "tool-call", id, name, arguments: JSON.stringify(args) };
}

export function lastUserText({ messages }: LanguageModelRequest): string {
  return messages.findLast(({ role }) => role === "user")?.content ?? "";
}
