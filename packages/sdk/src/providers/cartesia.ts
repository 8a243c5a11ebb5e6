import { checkOptions } from "../check-options.ts";
import type { AudioFrame } from "@vocalhost/audio";
import type { SpeakOptions, SpokenWords, TextToSpeech } from "../conversation/services.ts";
import type { TimedWord } from "../speech/words.ts";
import { requireKey, serviceUrl } from "./config.ts";
import { pcmFrom, ServiceError } from "./request.ts";
import { openServiceSocket, type ServiceSocket } from "./service-socket.ts";

export { ServiceError } from "./request.ts";

export interface CartesiaTtsOptions {
  /** Id of a voice. @default f786b574-daa5-4673-aa0c-cbe3e8534c02 (Katie) */
  voice?: string;
  /** @default sonic-3 */
  model?: string;
  /** @default en */
  language?: string;
  /** @default CARTESIA_API_KEY */
  apiKey?: string;
  /** @default CARTESIA_BASE_URL, else https://api.cartesia.ai */
  baseUrl?: string;
}

/** Cartesia's voices, over one WebSocket that is kept for the next sentence. */
export const cartesia: { tts(options?: CartesiaTtsOptions): TextToSpeech } = { tts };

const RATE_HZ = 24_000;
const API_VERSION = "2025-04-16";
const IDLE_MS = 60_000;

interface Answer {
  type?: string;
  context_id?: string;
  data?: string;
  done?: boolean;
  word_timestamps?: { words: string[]; start: number[]; end: number[] };
  error?: string;
  message?: string;
}

const SILENT_MS = 2_000; // a connection that was silent about a sentence for this long is replaced

interface Context {
  askedAtMs: number;
  isAnswered: boolean;
  parts: (AudioFrame | SpokenWords)[];
  isOver: boolean;
  failure: Error | undefined;
  wake(): void;
}

function tts(options: CartesiaTtsOptions = {}): TextToSpeech {
  checkOptions("cartesia.tts", options, {
    voice: true,
    model: true,
    language: true,
    apiKey: true,
    baseUrl: true,
  });
  const apiKey = requireKey(options.apiKey, "CARTESIA_API_KEY", "Cartesia");
  const baseUrl = serviceUrl(options.baseUrl, "CARTESIA_BASE_URL", "https://api.cartesia.ai");
  return createVoice({
    apiKey,
    baseUrl,
    model: options.model ?? "sonic-3",
    voice: options.voice ?? "f786b574-daa5-4673-aa0c-cbe3e8534c02",
    language: options.language ?? "en",
  });
}

interface VoiceOptions {
  apiKey: string;
  baseUrl: string;
  model: string;
  voice: string;
  language: string;
}

function createVoice(options: VoiceOptions): TextToSpeech {
  return new CartesiaVoice(options);
}

class CartesiaVoice implements TextToSpeech {
  readonly #options: VoiceOptions;
  readonly #contexts = new Map<string, Context>();
  #socket: ServiceSocket | undefined;
  #idle: NodeJS.Timeout | undefined;
  readonly name: string;
  readonly vendor: string = "Cartesia";

  constructor(options: VoiceOptions) {
    this.#options = options;
    this.name = options.model;
  }

  async *speak(transcript: string, { signal }: SpeakOptions): AsyncIterable<AudioFrame | SpokenWords> {
    const contextId = crypto.randomUUID();
    let wake = Promise.withResolvers<void>();
    const context: Context = {
      askedAtMs: performance.now(),
      isAnswered: false,
      parts: [],
      isOver: false,
      failure: undefined,
      wake: () => wake.resolve(),
    };
    this.#contexts.set(contextId, context);
    signal.addEventListener("abort", context.wake, { once: true });
    const connection = this.#connect();
    connection.send({
      context_id: contextId,
      model_id: this.#options.model,
      transcript,
      voice: { mode: "id", id: this.#options.voice },
      language: this.#options.language,
      output_format: { container: "raw", encoding: "pcm_s16le", sample_rate: RATE_HZ },
      add_timestamps: true,
      continue: false,
    });
    try {
      while (!signal.aborted) {
        const part = context.parts.shift();
        if (part) yield part;
        else if (context.failure) throw context.failure;
        else if (context.isOver) return;
        else {
          await wake.promise;
          wake = Promise.withResolvers();
        }
      }
    } finally {
      signal.removeEventListener("abort", context.wake);
      if (!context.isOver && !context.failure && this.#socket?.isOpen)
        this.#socket.send({ context_id: contextId, cancel: true });
      this.#leave(contextId);
      if (
        !context.isAnswered &&
        performance.now() - context.askedAtMs > SILENT_MS &&
        this.#socket === connection
      ) {
        this.#socket = undefined;
        connection.close();
      }
    }
  }

  #connect(): ServiceSocket {
    clearTimeout(this.#idle);
    if (this.#socket?.isOpen) return this.#socket;
    const opened = openServiceSocket({
      vendor: "Cartesia",
      url: `${this.#options.baseUrl.replace(/^http/, "ws")}/tts/websocket`,
      headers: { "x-api-key": this.#options.apiKey, "cartesia-version": API_VERSION },
      onMessage: (message) => this.#onAnswer(message as Answer),
      onEnd: (error) => {
        if (this.#socket === opened) this.#socket = undefined;
        for (const context of this.#contexts.values()) {
          context.failure = error ?? new ServiceError("Cartesia closed the connection");
          context.wake();
        }
      },
    });
    return (this.#socket = opened);
  }

  #onAnswer(answer: Answer): void {
    const context = this.#contexts.get(answer.context_id ?? "");
    if (!context) return; // belongs to a sentence that was cut off
    context.isAnswered = true;
    if (answer.type === "chunk" && answer.data)
      context.parts.push({ samples: pcmFrom(Buffer.from(answer.data, "base64")), sampleRateHz: RATE_HZ });
    if (answer.type === "timestamps" && answer.word_timestamps)
      context.parts.push({ words: timed(answer.word_timestamps) });
    if (answer.type === "error")
      context.failure = new ServiceError("Cartesia refused a sentence", {
        answer: answer.message ?? answer.error ?? "",
      });
    if (answer.done) context.isOver = true;
    context.wake();
  }

  #leave(contextId: string): void {
    this.#contexts.delete(contextId);
    if (this.#contexts.size > 0) return;
    clearTimeout(this.#idle);
    // Does not keep the process alive.
    this.#idle = setTimeout(() => this.#socket?.close(), IDLE_MS).unref();
  }
}

function timed({ words, start, end }: { words: string[]; start: number[]; end: number[] }): TimedWord[] {
  return words.map((word, at) => ({
    text: `${word} `,
    startMs: (start[at] ?? 0) * 1000,
    endMs: (end[at] ?? 0) * 1000,
  }));
}
