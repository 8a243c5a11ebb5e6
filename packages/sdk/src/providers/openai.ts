import { checkOptions } from "../check-options.ts";
import type { LanguageModel, SpeechToText, TextToSpeech } from "../conversation/services.ts";
import type { SpeechModel } from "../conversation/speech-model.ts";
import { requireKey, serviceUrl } from "./config.ts";
import { openaiRealtime, type RealtimeOptions } from "./openai-realtime.ts";
import {
  openaiCompatible,
  type ChatOptions,
  type OpenAiServices,
  type SpeechOptions,
  type TranscriptionOptions,
} from "./openai-compatible.ts";

export { openaiCompatible } from "./openai-compatible.ts";
export type {
  ChatOptions,
  OpenAiCompatibleOptions,
  OpenAiServices,
  SpeechOptions,
  TranscriptionOptions,
} from "./openai-compatible.ts";
export type { RealtimeOptions } from "./openai-realtime.ts";
export { ServiceError } from "./request.ts";

export interface OpenAiAccount {
  /** @default OPENAI_API_KEY */
  apiKey?: string;
  /** @default OPENAI_BASE_URL, else https://api.openai.com/v1 */
  baseUrl?: string;
}

/** OpenAI's models. */
export const openai: {
  llm(options?: Partial<ChatOptions> & OpenAiAccount): LanguageModel;
  stt(options?: Partial<TranscriptionOptions> & OpenAiAccount): SpeechToText;
  tts(options?: Partial<SpeechOptions> & OpenAiAccount): TextToSpeech;
  /** A model that hears and speaks itself, for `createRealtimeConversation`. */
  realtime(options?: RealtimeOptions & OpenAiAccount): SpeechModel;
} = {
  /** @default model gpt-4o-mini */
  llm: ({ apiKey, baseUrl, ...options } = {}) =>
    services({ apiKey, baseUrl }).llm({ ...options, model: options.model ?? "gpt-4o-mini" }),
  /** @default model gpt-4o-mini-transcribe */
  stt: ({ apiKey, baseUrl, ...options } = {}) =>
    services({ apiKey, baseUrl }).stt({ ...options, model: options.model ?? "gpt-4o-mini-transcribe" }),
  /** @default model gpt-4o-mini-tts, voice alloy */
  tts: ({ apiKey, baseUrl, ...options } = {}) =>
    services({ apiKey, baseUrl }).tts({
      ...options,
      model: options.model ?? "gpt-4o-mini-tts",
      voice: options.voice ?? "alloy",
    }),
  realtime({ apiKey, baseUrl, ...options } = {}) {
    checkOptions("openai.realtime", options, {
      model: true,
      voice: true,
      turnDetection: true,
      transcriptionModel: true,
    });
    return openaiRealtime(account({ apiKey, baseUrl }), options);
  },
};

function services(given: OpenAiAccount): OpenAiServices {
  return openaiCompatible({ name: "OpenAI", ...account(given) }, "openai");
}

function account({ apiKey, baseUrl }: OpenAiAccount): { apiKey: string; baseUrl: string } {
  return {
    baseUrl: serviceUrl(baseUrl, "OPENAI_BASE_URL", "https://api.openai.com/v1"),
    apiKey: requireKey(apiKey, "OPENAI_API_KEY", "OpenAI"),
  };
}
