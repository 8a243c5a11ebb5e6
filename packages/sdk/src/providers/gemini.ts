import { checkOptions } from "../check-options.ts";
import type { Message } from "../conversation/services.ts";
import {
  inWords,
  type SpeechModel,
  type SpeechModelOptions,
  type SpeechModelSession,
} from "../conversation/speech-model.ts";
import { requireKey, serviceUrl } from "./config.ts";
import { bytesOf, pcmFrom } from "./request.ts";
import { openServiceSocket } from "./service-socket.ts";

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
  { instructions, tools, signal, events }: SpeechModelOptions,
): SpeechModelSession {
  let heard = ""; // of the user, in pieces
  let isUserTurn = false;
  const cancelled = new Set<string>(); // calls whose results it takes as text only
  const socket = openServiceSocket({
    vendor: "Gemini",
    url: options.url,
    headers: {},
    onMessage: (message) => onMessage(message as ServerMessage),
    onEnd: (error) => (error && !signal.aborted ? events.ended(error) : undefined),
  });
  socket.send({
    setup: {
      model: `models/${options.model}`,
      generationConfig: {
        responseModalities: ["AUDIO"],
        speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: options.voice } } },
      },
      ...(instructions === undefined ? {} : { systemInstruction: { parts: [{ text: instructions }] } }),
      ...(tools.length === 0
        ? {}
        : {
            tools: [
              {
                functionDeclarations: tools.map(({ name, description, parameters }) => ({
                  name,
                  description,
                  parametersJsonSchema: parameters,
                })),
              },
            ],
          }),
      inputAudioTranscription: {},
      outputAudioTranscription: {},
    },
  });

  function onMessage({
    setupComplete,
    serverContent,
    toolCall,
    toolCallCancellation,
    usageMetadata,
  }: ServerMessage): void {
    if (setupComplete) events.ready();
    for (const id of toolCallCancellation?.ids ?? []) cancelled.add(id);
    if (usageMetadata)
      events.usage({
        inputTokens: usageMetadata.promptTokenCount ?? 0,
        outputTokens: usageMetadata.responseTokenCount ?? 0,
      });
    if (serverContent) onContent(serverContent);
    const calls = toolCall?.functionCalls ?? [];
    if (calls.length === 0) return;
    endUserTurn();
    events.toolCalls(
      calls.map(({ id, name, args }) => ({
        type: "tool-call",
        id: id ?? "",
        name: name ?? "",
        arguments: JSON.stringify(args ?? {}),
      })),
    );
  }

  function onContent(content: NonNullable<ServerMessage["serverContent"]>): void {
    if (content.interrupted) beginUserTurn();
    if (content.inputTranscription?.text) {
      beginUserTurn();
      heard += content.inputTranscription.text;
    }
    if (content.modelTurn || content.outputTranscription?.text) endUserTurn();
    if (content.outputTranscription?.text) events.text(content.outputTranscription.text);
    for (const { inlineData } of content.modelTurn?.parts ?? [])
      if (inlineData?.data)
        events.audio({
          samples: pcmFrom(Buffer.from(inlineData.data, "base64")),
          sampleRateHz: OUTPUT_RATE_HZ,
        });
    if (content.turnComplete && !content.interrupted) events.answered();
  }

  // It says what it heard, not when somebody began to speak.
  function beginUserTurn(): void {
    if (isUserTurn) return;
    isUserTurn = true;
    events.userStarted();
  }

  function endUserTurn(): void {
    if (!isUserTurn) return;
    isUserTurn = false;
    events.userStopped();
    events.userText(heard);
    heard = "";
  }

  function send(text: string): void {
    socket.send({ clientContent: { turns: [{ role: "user", parts: [{ text }] }], turnComplete: true } });
  }

  function tell(messages: readonly Message[]): void {
    const turns = messages.map(inWords).map(({ role, text }) => ({
      role: role === "assistant" ? "model" : role,
      parts: [{ text }],
    }));
    socket.send({ clientContent: { turns, turnComplete: false } });
  }

  /** Has it answer what it has been told. */
  function answer(): void {
    socket.send({ clientContent: { turnComplete: true } });
  }

  return {
    write: ({ samples }) =>
      socket.send({
        realtimeInput: {
          audio: {
            data: Buffer.from(bytesOf(samples)).toString("base64"),
            mimeType: `audio/pcm;rate=${INPUT_RATE_HZ}`,
          },
        },
      }),
    interrupted: () => undefined, // it has noticed itself, and keeps only what it had sent
    toolResults(results, { answer: isAnswered }) {
      // It answers every response to a call, and takes none to a call that it has cancelled.
      const asText = results.filter(({ callId }) => !isAnswered || cancelled.has(callId));
      const rest = results.filter((result) => !asText.includes(result));
      if (asText.length > 0) tell(asText);
      if (rest.length === 0) return isAnswered ? answer() : undefined;
      socket.send({
        toolResponse: {
          functionResponses: rest.map(({ callId, name, content }) => ({
            id: callId,
            name,
            response: { result: content },
          })),
        },
      });
    },
    tell,
    userText: (text) => (text === "" ? answer() : send(text)),
    say: (text) => send(`Say exactly this, and nothing else: ${text}`),
    close: () => socket.close(),
  };
}
