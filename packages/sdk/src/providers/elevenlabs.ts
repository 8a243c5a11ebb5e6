import { checkOptions } from "../check-options.ts";
import type { TimedWord } from "../speech/words.ts";
import type { TextToSpeech } from "../conversation/services.ts";
import { requireKey, serviceUrl } from "./config.ts";
import { jsonOf, linesOf, pcmFrom, post } from "./request.ts";

export { ServiceError } from "./request.ts";

export interface ElevenLabsTtsOptions {
  /** Id of a voice. @default JBFqnCBsd6RMkjVDRZzb (George) */
  voice?: string;
  /** @default eleven_flash_v2_5 */
  model?: string;
  /** ISO 639-1, for models that accept it. */
  language?: string;
  /** Stability, similarity and others, as ElevenLabs documents them. */
  voiceSettings?: Record<string, unknown>;
  /** @default ELEVENLABS_API_KEY */
  apiKey?: string;
  /** @default ELEVENLABS_BASE_URL, else https://api.elevenlabs.io */
  baseUrl?: string;
}

/** ElevenLabs' voices, which report when each character is heard. */
export const elevenlabs: { tts(options?: ElevenLabsTtsOptions): TextToSpeech } = { tts };

const RATE_HZ = 24_000;

interface Chunk {
  audio_base64?: string;
  alignment?: Alignment | null;
}

interface Alignment {
  characters: string[];
  character_start_times_seconds: number[];
  character_end_times_seconds: number[];
}

function tts(options: ElevenLabsTtsOptions = {}): TextToSpeech {
  checkOptions("elevenlabs.tts", options, {
    voice: true,
    model: true,
    language: true,
    voiceSettings: true,
    apiKey: true,
    baseUrl: true,
  });
  const apiKey = requireKey(options.apiKey, "ELEVENLABS_API_KEY", "ElevenLabs");
  const baseUrl = serviceUrl(options.baseUrl, "ELEVENLABS_BASE_URL", "https://api.elevenlabs.io");
  const voice = options.voice ?? "JBFqnCBsd6RMkjVDRZzb";
  const model = options.model ?? "eleven_flash_v2_5";
  return {
    name: model,
    vendor: "ElevenLabs",
    async *speak(text, { signal, previousText }) {
      const path = `v1/text-to-speech/${encodeURIComponent(voice)}/stream/with-timestamps`;
      const response = await post({
        vendor: "ElevenLabs",
        url: `${baseUrl}/${path}?output_format=pcm_${RATE_HZ}`,
        headers: { "xi-api-key": apiKey },
        body: {
          text,
          model_id: model,
          ...(previousText === "" ? {} : { previous_text: previousText }),
          ...(options.language === undefined ? {} : { language_code: options.language }),
          ...(options.voiceSettings === undefined ? {} : { voice_settings: options.voiceSettings }),
        },
        signal,
      });
      let partOfWord: TimedWord | undefined;
      for await (const line of linesOf(response, "ElevenLabs")) {
        if (line.trim() === "") continue;
        const { audio_base64, alignment } = jsonOf(line, "ElevenLabs") as Chunk;
        if (alignment) {
          const words = wordsOf(alignment, partOfWord);
          partOfWord = words.pop();
          if (words.length > 0) yield { words };
        }
        if (audio_base64)
          yield { samples: pcmFrom(Buffer.from(audio_base64, "base64")), sampleRateHz: RATE_HZ };
      }
      if (partOfWord) yield { words: [partOfWord] };
    },
  };
}

/** A word ends where the next one begins: spaces and punctuation belong to the word before. */
function wordsOf(alignment: Alignment, begun: TimedWord | undefined): TimedWord[] {
  const words: TimedWord[] = begun ? [begun] : [];
  for (const [at, character] of alignment.characters.entries()) {
    const startMs = (alignment.character_start_times_seconds[at] ?? 0) * 1000;
    const endMs = (alignment.character_end_times_seconds[at] ?? 0) * 1000;
    const last = words.at(-1);
    const continues = last !== undefined && (/\s/.test(character) || !/\s$/.test(last.text));
    if (continues) words[words.length - 1] = { text: last.text + character, startMs: last.startMs, endMs };
    else words.push({ text: character, startMs, endMs });
  }
  return words;
}
