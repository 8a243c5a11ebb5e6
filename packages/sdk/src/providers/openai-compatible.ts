import { checkOptions } from "../check-options.ts";
import { writeWav, type AudioFrame } from "@vocalhost/audio";
import type {
  LanguageModel,
  LanguageModelRequest,
  Message,
  SpeechToText,
  TextToSpeech,
  TokenUsage,
  ToolCall,
} from "../conversation/services.ts";
import { transcribeEach } from "../conversation/transcribe-each.ts";
import { eventsOf, jsonOf, pcmOf, post, ServiceError } from "./request.ts";

export interface OpenAiCompatibleOptions {
  /** URL up to and including `/v1`. */
  baseUrl: string;
  /** @default none, as many self-hosted servers need no key */
  apiKey?: string;
  /** Name in errors and metrics. @default the server's host */
  name?: string;
  /** Sent with every request. */
  headers?: Record<string, string>;
}

export interface ChatOptions {
  model: string;
  /** @default the model's own */
  temperature?: number;
  /** @default the model's own */
  maxTokens?: number;
  /** More fields of the request, as the service documents them. */
  extra?: Record<string, unknown>;
}

export interface TranscriptionOptions {
  model: string;
  /** ISO 639-1; improves accuracy. @default detected by the model */
  language?: string;
  /** Words to expect. */
  prompt?: string;
}

export interface SpeechOptions {
  model: string;
  voice: string;
  /** How to say it, for models that accept instructions. */
  instructions?: string;
  /** @default 1 */
  speed?: number;
  /** Sample rate of the raw PCM in the answer. @default 24000 */
  sampleRateHz?: number;
}

export interface OpenAiServices {
  llm(options: ChatOptions): LanguageModel;
  stt(options: TranscriptionOptions): SpeechToText;
  tts(options: SpeechOptions): TextToSpeech;
}

/** Uses any service with OpenAI's protocol: vLLM, Ollama, llama.cpp, Groq, Together, speaches and others. */
export function openaiCompatible(options: OpenAiCompatibleOptions, of = "openaiCompatible"): OpenAiServices {
  checkOptions(of, options, { baseUrl: true, apiKey: true, name: true, headers: true });
  const baseUrl = options.baseUrl.replace(/\/+$/, "");
  const vendor = options.name ?? new URL(baseUrl).host;
  const headers = {
    ...(options.apiKey === undefined ? {} : { authorization: `Bearer ${options.apiKey}` }),
    ...options.headers,
  };
  const ask = (path: string, body: FormData | object, signal: AbortSignal): Promise<Response> =>
    post({ vendor, url: `${baseUrl}/${path}`, headers, body, signal });

  return {
    llm: (chat) => {
      checkOptions(`${of}.llm`, chat, { model: true, temperature: true, maxTokens: true, extra: true });
      return {
        name: chat.model,
        vendor,
        async *respond(request) {
          const response = await ask("chat/completions", chatRequest(chat, request), request.signal);
          yield* readChat(response, vendor);
        },
      };
    },
    stt(transcription) {
      checkOptions(`${of}.stt`, transcription, { model: true, language: true, prompt: true });
      return transcribeEach(
        async (audio, { signal }) => {
          const response = await ask("audio/transcriptions", transcriptionForm(transcription, audio), signal);
          const { text } = (jsonOf(await response.text(), vendor) ?? {}) as { text?: unknown };
          if (typeof text !== "string") throw new ServiceError(`${vendor} sent an invalid answer`);
          return text;
        },
        { name: transcription.model, vendor },
      );
    },
    tts(speech) {
      checkOptions(`${of}.tts`, speech, {
        model: true,
        voice: true,
        instructions: true,
        speed: true,
        sampleRateHz: true,
      });
      return {
        name: speech.model,
        vendor,
        async *speak(input, { signal }) {
          const response = await ask(
            "audio/speech",
            {
              model: speech.model,
              voice: speech.voice,
              input,
              response_format: "pcm",
              ...(speech.instructions === undefined ? {} : { instructions: speech.instructions }),
              ...(speech.speed === undefined ? {} : { speed: speech.speed }),
            },
            signal,
          );
          for await (const samples of pcmOf(response, vendor))
            yield { samples, sampleRateHz: speech.sampleRateHz ?? 24_000 };
        },
      };
    },
  };
}

function transcriptionForm({ model, language, prompt }: TranscriptionOptions, audio: AudioFrame): FormData {
  const form = new FormData();
  form.set("model", model);
  form.set("response_format", "json");
  if (language !== undefined) form.set("language", language);
  if (prompt !== undefined) form.set("prompt", prompt);
  form.set("file", new Blob([new Uint8Array(writeWav(audio))], { type: "audio/wav" }), "speech.wav");
  return form;
}

function chatRequest(chat: ChatOptions, { messages, tools }: LanguageModelRequest): object {
  return {
    model: chat.model,
    messages: messages.map(toChatMessage),
    stream: true,
    stream_options: { include_usage: true },
    ...(tools.length === 0
      ? {}
      : { tools: tools.map((declaration) => ({ type: "function", function: declaration })) }),
    ...(chat.temperature === undefined ? {} : { temperature: chat.temperature }),
    ...(chat.maxTokens === undefined ? {} : { max_completion_tokens: chat.maxTokens }),
    ...chat.extra,
  };
}

function toChatMessage(message: Message): object {
  switch (message.role) {
    case "system":
    case "user":
      return { role: message.role, content: message.content };
    case "tool":
      return { role: "tool", tool_call_id: message.callId, content: message.content };
    case "assistant":
      return {
        role: "assistant",
        content: message.content === "" && message.toolCalls ? null : message.content,
        ...(message.toolCalls
          ? {
              tool_calls: message.toolCalls.map(({ id, name, arguments: args }) => ({
                id,
                type: "function",
                function: { name, arguments: args },
              })),
            }
          : {}),
      };
    default:
      return message satisfies never;
  }
}

interface ChatChunk {
  choices?: { delta?: ChatDelta; finish_reason?: string | null }[];
  usage?: { prompt_tokens?: number; completion_tokens?: number } | null;
  error?: { message?: string };
}

interface ChatDelta {
  content?: string | null;
  tool_calls?: { index?: number; id?: string; function?: { name?: string; arguments?: string } }[];
}

async function* readChat(response: Response, vendor: string): AsyncGenerator<string | ToolCall | TokenUsage> {
  const calls = new Map<number, ToolCall>();
  let isFinished = false;
  const events = eventsOf(response, vendor);
  for (let next = await events.next(); ; next = await events.next()) {
    if (next.done) {
      isFinished ||= next.value;
      break;
    }
    const { choices = [], usage, error } = next.value as ChatChunk;
    if (error)
      throw new ServiceError(`${vendor} stopped in the middle of its answer`, { answer: error.message });
    const [{ delta, finish_reason } = {}] = choices;
    isFinished ||= typeof finish_reason === "string";
    if (delta?.content) yield delta.content;
    for (const [at, piece] of (delta?.tool_calls ?? []).entries()) {
      const index = piece.index ?? at;
      const call = calls.get(index) ?? { type: "tool-call", id: "", name: "", arguments: "" };
      call.id ||= piece.id ?? "";
      call.name += piece.function?.name ?? "";
      call.arguments += piece.function?.arguments ?? "";
      calls.set(index, call);
    }
    if (usage)
      yield {
        type: "usage",
        inputTokens: usage.prompt_tokens ?? 0,
        outputTokens: usage.completion_tokens ?? 0,
      };
  }
  if (!isFinished) throw new ServiceError(`${vendor} ended its answer early`);
  // Some servers leave the id out, and the result must name one.
  for (const [index, call] of calls) yield { ...call, id: call.id || `call_${index}_${crypto.randomUUID()}` };
}
