import { checkOptions } from "../check-options.ts";
import type { AudioFrame } from "@vocalhost/audio";
import type {
  SpeechToText,
  SpeechToTextOptions,
  SpeechToTextStream,
  TextToSpeech,
} from "../conversation/services.ts";
import { requireKey, serviceUrl } from "./config.ts";
import { bytesOf, pcmOf, post, ServiceError } from "./request.ts";
import { openServiceSocket, type ServiceSocket } from "./service-socket.ts";

export { ServiceError } from "./request.ts";

export interface DeepgramAccount {
  /** @default DEEPGRAM_API_KEY */
  apiKey?: string;
  /** @default DEEPGRAM_BASE_URL, else https://api.deepgram.com */
  baseUrl?: string;
}

export interface DeepgramSttOptions extends DeepgramAccount {
  /** @default nova-3 */
  model?: string;
  /** @default en */
  language?: string;
  /** Words to expect. @default none */
  keyterms?: readonly string[];
  /** More query parameters, as Deepgram documents them. */
  extra?: Record<string, string>;
}

export interface DeepgramTtsOptions extends DeepgramAccount {
  /** Model and voice in one. @default aura-2-thalia-en */
  model?: string;
}

/** Deepgram's streaming transcription and its voices. */
export const deepgram: {
  stt(options?: DeepgramSttOptions): SpeechToText;
  tts(options?: DeepgramTtsOptions): TextToSpeech;
} = { stt, tts };

const KEEP_ALIVE_MS = 4_000; // Deepgram closes after 10 s without audio
// Deepgram may not answer when nothing is left to process; the final text so far is then complete.
const FINALIZE_MAX_MS = 1_500;
const ANSWERED_MS = 1_000; // for this much sound it has sent an answer, if only an empty one

interface Results {
  type?: string;
  is_final?: boolean;
  from_finalize?: boolean;
  channel?: { alternatives?: { transcript?: string }[] };
}

function stt(options: DeepgramSttOptions = {}): SpeechToText {
  checkOptions("deepgram.stt", options, {
    apiKey: true,
    baseUrl: true,
    model: true,
    language: true,
    keyterms: true,
    extra: true,
  });
  const apiKey = requireKey(options.apiKey, "DEEPGRAM_API_KEY", "Deepgram");
  const baseUrl = serviceUrl(options.baseUrl, "DEEPGRAM_BASE_URL", "https://api.deepgram.com");
  const model = options.model ?? "nova-3";
  return {
    name: model,
    vendor: "Deepgram",
    open: (stream) => openStream({ ...stream, apiKey, url: listenUrl(stream.sampleRateHz) }),
  };

  function listenUrl(sampleRateHz: number): string {
    const url = new URL(`${baseUrl.replace(/^http/, "ws")}/v1/listen`);
    const parameters = {
      model,
      language: options.language ?? "en",
      encoding: "linear16",
      sample_rate: String(sampleRateHz),
      channels: "1",
      interim_results: "true",
      punctuate: "true",
      smart_format: "true",
      endpointing: "false", // the conversation decides where turns end
      ...options.extra,
    };
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
    for (const term of options.keyterms ?? []) url.searchParams.append("keyterm", term);
    return url.href;
  }
}

interface StreamOptions extends SpeechToTextOptions {
  apiKey: string;
  url: string;
}

function openStream(options: StreamOptions): SpeechToTextStream {
  return new DeepgramStream(options);
}

class DeepgramStream implements SpeechToTextStream {
  readonly #options: StreamOptions;
  #finals: string[] = [];
  #interim = "";
  #flushing: { done(): void; fail(error: Error): void } | undefined;
  #failure: ServiceError | undefined;
  #socket: ServiceSocket | undefined;
  #writtenBytes = 0; // since the last flush
  #isAnswered = false; // any answer since the last flush
  readonly #keepAlive = setInterval(
    () => this.#socket?.isOpen && this.#socket.send({ type: "KeepAlive" }),
    KEEP_ALIVE_MS,
  );
  readonly close = (): void => {
    clearInterval(this.#keepAlive);
    this.#options.signal.removeEventListener("abort", this.close);
    this.#socket?.send({ type: "CloseStream" });
    this.#socket?.close();
  };

  constructor(options: StreamOptions) {
    this.#options = options;
    this.#current();
    options.signal.addEventListener("abort", this.close, { once: true });
  }

  write({ samples }: AudioFrame): void {
    this.#current()?.send(bytesOf(samples));
    this.#writtenBytes += samples.byteLength;
  }

  async flush(): Promise<string> {
    const askedBytes = this.#writtenBytes;
    this.#writtenBytes = 0;
    if (this.#failure) throw this.#failure;
    await this.#socket?.opened; // the handshake must not count against the timeout
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#flushing = { done: resolve, fail: reject };
    const timer = setTimeout(() => {
      if (this.#isAnswered || askedBytes < (ANSWERED_MS / 500) * this.#options.sampleRateHz) resolve();
      else reject(new ServiceError(`Deepgram did not answer in ${FINALIZE_MAX_MS} ms`));
    }, FINALIZE_MAX_MS);
    this.#socket?.send({ type: "Finalize" });
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      this.#flushing = undefined;
      this.#isAnswered = false;
    }
    const text = [...this.#finals, this.#interim].join(" ").trim();
    this.#finals = [];
    this.#interim = "";
    return text;
  }

  #connect(): ServiceSocket {
    this.#failure = undefined;
    return openServiceSocket({
      vendor: "Deepgram",
      url: this.#options.url,
      headers: { authorization: `Token ${this.#options.apiKey}` },
      onMessage: (message) => this.#onResults(message as Results),
      onEnd: (error) => {
        this.#failure = error;
        if (error) this.#flushing?.fail(error);
        else this.#flushing?.done();
      },
    });
  }

  #onResults({ type, is_final, from_finalize, channel }: Results): void {
    if (type !== "Results") return;
    this.#isAnswered = true;
    const text = channel?.alternatives?.[0]?.transcript ?? "";
    if (is_final && text !== "") this.#finals.push(text);
    this.#interim = is_final ? "" : text;
    if (from_finalize) this.#flushing?.done();
    else if (!this.#flushing) this.#options.partial([...this.#finals, this.#interim].join(" ").trim());
  }

  /** Reopens a lost connection with the next words. Words during which it was lost are lost. */
  #current(): ServiceSocket | undefined {
    if (!this.#socket?.isOpen && this.#writtenBytes === 0) this.#socket = this.#connect();
    return this.#socket;
  }
}

const TTS_RATE_HZ = 24_000;

function tts(options: DeepgramTtsOptions = {}): TextToSpeech {
  checkOptions("deepgram.tts", options, { apiKey: true, baseUrl: true, model: true });
  const apiKey = requireKey(options.apiKey, "DEEPGRAM_API_KEY", "Deepgram");
  const baseUrl = serviceUrl(options.baseUrl, "DEEPGRAM_BASE_URL", "https://api.deepgram.com");
  const model = options.model ?? "aura-2-thalia-en";
  return {
    name: model,
    vendor: "Deepgram",
    async *speak(text, { signal }) {
      const query = new URLSearchParams({
        model,
        encoding: "linear16",
        sample_rate: String(TTS_RATE_HZ),
        container: "none",
      });
      const response = await post({
        vendor: "Deepgram",
        url: `${baseUrl}/v1/speak?${query.toString()}`,
        headers: { authorization: `Token ${apiKey}` },
        body: { text },
        signal,
      });
      for await (const samples of pcmOf(response, "Deepgram")) yield { samples, sampleRateHz: TTS_RATE_HZ };
    },
  };
}
