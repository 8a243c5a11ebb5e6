import {
  inWords,
  type SpeechModel,
  type SpeechModelOptions,
  type SpeechModelSession,
} from "../conversation/speech-model.ts";
import type { AudioFrame } from "@vocalhost/audio";
import type { Message, ToolMessage } from "../conversation/services.ts";
import { bytesOf, pcmFrom, ServiceError } from "./request.ts";
import { openServiceSocket, type ServiceSocket } from "./service-socket.ts";

export interface RealtimeOptions {
  /** @default gpt-realtime */
  model?: string;
  /** @default marin */
  voice?: string;
  /** How the model decides that the user has finished. @default "semantic_vad" */
  turnDetection?: "semantic_vad" | "server_vad";
  /** Model that transcribes the user's speech. @default gpt-4o-mini-transcribe */
  transcriptionModel?: string;
}

const RATE_HZ = 24_000;

interface ServerEvent {
  type: string;
  delta?: string;
  item_id?: string;
  transcript?: string;
  item?: { id?: string; type?: string; call_id?: string; name?: string; arguments?: string };
  response?: {
    status?: string;
    status_details?: { error?: { message?: string } };
    usage?: { input_tokens?: number; output_tokens?: number };
  };
  error?: { message?: string; code?: string };
}

export function openaiRealtime(
  account: { apiKey: string; baseUrl: string },
  options: RealtimeOptions,
): SpeechModel {
  const model = options.model ?? "gpt-realtime";
  return {
    name: model,
    vendor: "OpenAI",
    inputRateHz: RATE_HZ,
    open: (session) => open(account, { ...options, model }, session),
  };
}

function open(
  account: { apiKey: string; baseUrl: string },
  options: RealtimeOptions & { model: string },
  session: SpeechModelOptions,
): SpeechModelSession {
  return new OpenaiSession(account, options, session);
}

class OpenaiSession implements SpeechModelSession {
  readonly #session: SpeechModelOptions;
  #speaking: string | undefined; // the item whose sound is being played
  #isResponding = false;
  #isCancelled = false; // the rest of the response is ignored
  #calls: { type: "tool-call"; id: string; name: string; arguments: string }[] = [];
  readonly #socket: ServiceSocket;

  constructor(
    account: { apiKey: string; baseUrl: string },
    options: RealtimeOptions & { model: string },
    session: SpeechModelOptions,
  ) {
    this.#session = session;
    this.#socket = openServiceSocket({
      vendor: "OpenAI",
      url: `${account.baseUrl.replace(/^http/, "ws")}/realtime?model=${encodeURIComponent(options.model)}`,
      headers: { authorization: `Bearer ${account.apiKey}` },
      onMessage: (message) => this.#onEvent(message as ServerEvent),
      onEnd: (error) => (error && !session.signal.aborted ? session.events.ended(error) : undefined),
    });
    this.#socket.send(sessionUpdate(options, session));
  }

  write({ samples }: AudioFrame): void {
    this.#socket.send({
      type: "input_audio_buffer.append",
      audio: Buffer.from(bytesOf(samples)).toString("base64"),
    });
  }

  interrupted(playedMs: number): void {
    if (this.#isResponding) this.#socket.send({ type: "response.cancel" });
    this.#isCancelled = this.#isResponding;
    if (this.#speaking !== undefined)
      this.#socket.send({
        type: "conversation.item.truncate",
        item_id: this.#speaking,
        content_index: 0,
        audio_end_ms: Math.floor(playedMs),
      });
    this.#speaking = undefined;
  }

  toolResults(results: readonly ToolMessage[], { answer }: { answer: boolean }): void {
    for (const { callId, content } of results)
      this.#socket.send({
        type: "conversation.item.create",
        item: { type: "function_call_output", call_id: callId, output: content },
      });
    if (answer) this.#socket.send({ type: "response.create" });
  }

  tell(messages: readonly Message[]): void {
    for (const message of messages) {
      const { role, text } = inWords(message);
      const type = role === "assistant" ? "output_text" : "input_text";
      this.#socket.send({
        type: "conversation.item.create",
        item: { type: "message", role, content: [{ type, text }] },
      });
    }
  }

  userText(text: string): void {
    if (text !== "")
      this.#socket.send({
        type: "conversation.item.create",
        item: { type: "message", role: "user", content: [{ type: "input_text", text }] },
      });
    this.#socket.send({ type: "response.create" });
  }

  say(text: string): void {
    this.#socket.send({ type: "response.create", response: { instructions: `Say exactly this: ${text}` } });
  }

  close(): void {
    this.#socket.close();
  }

  #onEvent(event: ServerEvent): void {
    switch (event.type) {
      case "session.updated":
        return this.#session.events.ready();
      case "input_audio_buffer.speech_started":
        return this.#session.events.userStarted();
      case "input_audio_buffer.speech_stopped":
        return this.#session.events.userStopped();
      case "conversation.item.input_audio_transcription.completed":
        return this.#session.events.userText(event.transcript ?? "");
      case "response.created":
        this.#isResponding = true;
        this.#isCancelled = false;
        this.#calls = [];
        return undefined;
      case "response.output_audio.delta":
        if (this.#isCancelled) return undefined;
        this.#speaking = event.item_id;
        return this.#session.events.audio({
          samples: pcmFrom(Buffer.from(event.delta ?? "", "base64")),
          sampleRateHz: RATE_HZ,
        });
      case "response.output_audio_transcript.delta":
      case "response.output_text.delta":
        return this.#isCancelled ? undefined : this.#session.events.text(event.delta ?? "");
      case "response.output_item.done":
        if (event.item?.type === "function_call")
          this.#calls.push({
            type: "tool-call",
            id: event.item.call_id ?? "",
            name: event.item.name ?? "",
            arguments: event.item.arguments ?? "",
          });
        return undefined;
      case "response.done":
        return this.#onDone(event);
      case "error":
        return this.#session.events.failed(
          new ServiceError("OpenAI refused a message", { answer: event.error?.message ?? "" }),
        );
      default:
        return undefined; // other events repeat what is known
    }
  }

  #onDone({ response }: ServerEvent): void {
    this.#isResponding = false;
    const { input_tokens = 0, output_tokens = 0 } = response?.usage ?? {};
    this.#session.events.usage({ inputTokens: input_tokens, outputTokens: output_tokens });
    if (this.#isCancelled) return;
    if (response?.status === "failed")
      return this.#session.events.ended(
        new ServiceError("OpenAI could not answer", {
          answer: response.status_details?.error?.message ?? "",
        }),
      );
    if (this.#calls.length > 0 && response?.status !== "cancelled")
      this.#session.events.toolCalls(this.#calls);
    else this.#session.events.answered();
  }
}

function sessionUpdate(options: RealtimeOptions, { instructions, tools }: SpeechModelOptions): object {
  return {
    type: "session.update",
    session: {
      type: "realtime",
      output_modalities: ["audio"],
      ...(instructions === undefined ? {} : { instructions }),
      audio: {
        input: {
          format: { type: "audio/pcm", rate: RATE_HZ },
          transcription: { model: options.transcriptionModel ?? "gpt-4o-mini-transcribe" },
          turn_detection: {
            type: options.turnDetection ?? "semantic_vad",
            create_response: true,
            interrupt_response: true,
          },
        },
        output: { format: { type: "audio/pcm", rate: RATE_HZ }, voice: options.voice ?? "marin" },
      },
      tools: tools.map((declaration) => ({ type: "function", ...declaration })),
      tool_choice: "auto",
    },
  };
}
