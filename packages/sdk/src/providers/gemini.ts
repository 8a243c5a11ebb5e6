import { checkOptions } from "../check-options.ts";
import type { AudioFrame } from "@vocalhost/audio";
import type { Message, ToolMessage } from "../conversation/services.ts";
import {
  inWords,
  type SpeechModel,
  type SpeechModelOptions,
  type SpeechModelSession,
} from "../conversation/speech-model.ts";
import { requireKey, serviceUrl } from "./config.ts";
import { bytesOf, pcmFrom } from "./request.ts";
import { openServiceSocket, type ServiceSocket } from "./service-socket.ts";

export { ServiceError } from "./request.ts";

export interface GeminiLiveOptions {
  /** @default gemini-2.5-flash-native-audio-preview-12-2025 */
  model?: string;
  /** @default Puck */
  voice?: string;
  /** @default GEMINI_API_KEY */
  apiKey?: string;
  /** @default GEMINI_BASE_URL, else https://generativelanguage.googleapis.com */
  baseUrl?: string;
}

/** Google's models that hear and speak. */
export const gemini: { live(options?: GeminiLiveOptions): SpeechModel } = { live };

const INPUT_RATE_HZ = 16_000;
const OUTPUT_RATE_HZ = 24_000;
const PATH = "ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent";

interface ServerMessage {
  setupComplete?: object;
  serverContent?: {
    modelTurn?: { parts?: { inlineData?: { data?: string; mimeType?: string } }[] };
    interrupted?: boolean;
    turnComplete?: boolean;
    inputTranscription?: { text?: string };
    outputTranscription?: { text?: string };
  };
  toolCallCancellation?: { ids?: string[] };
  toolCall?: { functionCalls?: { id?: string; name?: string; args?: unknown }[] };
  usageMetadata?: { promptTokenCount?: number; responseTokenCount?: number };
}

function live(options: GeminiLiveOptions = {}): SpeechModel {
  checkOptions("gemini.live", options, { model: true, voice: true, apiKey: true, baseUrl: true });
  const apiKey = requireKey(options.apiKey, "GEMINI_API_KEY", "Gemini");
  const baseUrl = serviceUrl(options.baseUrl, "GEMINI_BASE_URL", "https://generativelanguage.googleapis.com");
  const model = options.model ?? "gemini-2.5-flash-native-audio-preview-12-2025";
  const url = `${baseUrl.replace(/^http/, "ws")}/${PATH}?key=${encodeURIComponent(apiKey)}`;
  return {
    name: model,
    vendor: "Gemini",
    inputRateHz: INPUT_RATE_HZ,
    open: (session) => open({ url, model, voice: options.voice ?? "Puck" }, session),
  };
}

function open(
  options: { url: string; model: string; voice: string },
  session: SpeechModelOptions,
): SpeechModelSession {
  return new GeminiSession(options, session);
}

class GeminiSession implements SpeechModelSession {
  readonly #session: SpeechModelOptions;
  #heard = ""; // the user's transcript, in pieces
  #isUserTurn = false;
  readonly #cancelled = new Set<string>(); // calls whose results must be sent as text
  readonly #socket: ServiceSocket;

  constructor(options: { url: string; model: string; voice: string }, session: SpeechModelOptions) {
    this.#session = session;
    this.#socket = openServiceSocket({
      vendor: "Gemini",
      url: options.url,
      headers: {},
      onMessage: (message) => this.#onMessage(message as ServerMessage),
      onEnd: (error) => (error && !session.signal.aborted ? session.events.ended(error) : undefined),
    });
    this.#socket.send(setupMessage(options, session));
  }

  write({ samples }: AudioFrame): void {
    this.#socket.send({
      realtimeInput: {
        audio: {
          data: Buffer.from(bytesOf(samples)).toString("base64"),
          mimeType: `audio/pcm;rate=${INPUT_RATE_HZ}`,
        },
      },
    });
  }

  interrupted(): void {} // Gemini has noticed itself, and keeps only what it had sent.

  toolResults(results: readonly ToolMessage[], { answer: isAnswered }: { answer: boolean }): void {
    // Gemini answers every tool response, and refuses responses to calls it has cancelled.
    const asText = results.filter(({ callId }) => !isAnswered || this.#cancelled.has(callId));
    const rest = results.filter((result) => !asText.includes(result));
    if (asText.length > 0) this.tell(asText);
    if (rest.length === 0) return isAnswered ? this.#answer() : undefined;
    this.#socket.send({
      toolResponse: {
        functionResponses: rest.map(({ callId, name, content }) => ({
          id: callId,
          name,
          response: { result: content },
        })),
      },
    });
  }

  tell(messages: readonly Message[]): void {
    const turns = messages.map(inWords).map(({ role, text }) => ({
      role: role === "assistant" ? "model" : role,
      parts: [{ text }],
    }));
    this.#socket.send({ clientContent: { turns, turnComplete: false } });
  }

  userText(text: string): void {
    if (text === "") this.#answer();
    else this.#send(text);
  }

  say(text: string): void {
    this.#send(`Say exactly this, and nothing else: ${text}`);
  }

  close(): void {
    this.#socket.close();
  }

  #onMessage({
    setupComplete,
    serverContent,
    toolCall,
    toolCallCancellation,
    usageMetadata,
  }: ServerMessage): void {
    if (setupComplete) this.#session.events.ready();
    for (const id of toolCallCancellation?.ids ?? []) this.#cancelled.add(id);
    if (usageMetadata)
      this.#session.events.usage({
        inputTokens: usageMetadata.promptTokenCount ?? 0,
        outputTokens: usageMetadata.responseTokenCount ?? 0,
      });
    if (serverContent) this.#onContent(serverContent);
    const calls = toolCall?.functionCalls ?? [];
    if (calls.length === 0) return;
    this.#endUserTurn();
    this.#session.events.toolCalls(
      calls.map(({ id, name, args }) => ({
        type: "tool-call",
        id: id ?? "",
        name: name ?? "",
        arguments: JSON.stringify(args ?? {}),
      })),
    );
  }

  #onContent(content: NonNullable<ServerMessage["serverContent"]>): void {
    if (content.interrupted) this.#beginUserTurn();
    if (content.inputTranscription?.text) {
      this.#beginUserTurn();
      this.#heard += content.inputTranscription.text;
    }
    if (content.modelTurn || content.outputTranscription?.text) this.#endUserTurn();
    if (content.outputTranscription?.text) this.#session.events.text(content.outputTranscription.text);
    for (const { inlineData } of content.modelTurn?.parts ?? [])
      if (inlineData?.data)
        this.#session.events.audio({
          samples: pcmFrom(Buffer.from(inlineData.data, "base64")),
          sampleRateHz: OUTPUT_RATE_HZ,
        });
    if (content.turnComplete && !content.interrupted) this.#session.events.answered();
  }

  // Gemini sends transcripts, and no event for the beginning of speech.
  #beginUserTurn(): void {
    if (this.#isUserTurn) return;
    this.#isUserTurn = true;
    this.#session.events.userStarted();
  }

  #endUserTurn(): void {
    if (!this.#isUserTurn) return;
    this.#isUserTurn = false;
    this.#session.events.userStopped();
    this.#session.events.userText(this.#heard);
    this.#heard = "";
  }

  #send(text: string): void {
    this.#socket.send({
      clientContent: { turns: [{ role: "user", parts: [{ text }] }], turnComplete: true },
    });
  }

  /** Asks for an answer to what it was told. */
  #answer(): void {
    this.#socket.send({ clientContent: { turnComplete: true } });
  }
}

function setupMessage(
  { model, voice }: { model: string; voice: string },
  { instructions, tools }: SpeechModelOptions,
): object {
  const functionDeclarations = tools.map(({ name, description, parameters }) => ({
    name,
    description,
    parametersJsonSchema: parameters,
  }));
  return {
    setup: {
      model: `models/${model}`,
      generationConfig: {
        responseModalities: ["AUDIO"],
        speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: voice } } },
      },
      ...(instructions === undefined ? {} : { systemInstruction: { parts: [{ text: instructions }] } }),
      ...(tools.length === 0 ? {} : { tools: [{ functionDeclarations }] }),
      inputAudioTranscription: {},
      outputAudioTranscription: {},
    },
  };
}
