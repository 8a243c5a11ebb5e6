import type { AudioFrame } from "@vocalhost/audio";
import type { TimedWord } from "../speech/words.ts";

// The services a conversation uses. Each interface has one method, so that a vendor's own SDK fits in a few lines.

/** Turns speech into text. */
export interface SpeechToText {
  /** Appears in metrics. */
  readonly name?: string;
  /** The company that runs it; named in errors. @default name */
  readonly vendor?: string;
  /** Called once for each conversation, and again whenever a stream has failed. */
  open(options: SpeechToTextOptions): SpeechToTextStream | Promise<SpeechToTextStream>;
}

export interface SpeechToTextOptions {
  sampleRateHz: number;
  /** Aborts when the conversation is over or gives this stream up. */
  signal: AbortSignal;
  /** Reports the text understood since the last `flush` while the user speaks. Call it whenever the text changes. */
  partial(text: string): void;
}

export interface SpeechToTextStream {
  /** Takes speech as it arrives, with a little silence around it; longer silence is left out. */
  write(frame: AudioFrame): void;
  /** Called at each pause. Resolves with the text written since the last `flush`, empty if it has no words. */
  flush(): Promise<string>;
  close?(): void;
}

/** Answers the messages of a conversation. */
export interface LanguageModel {
  readonly name?: string;
  /** The company that runs it; named in errors. @default name */
  readonly vendor?: string;
  /** Yields text in pieces of any length, tool calls and token usage. Ends when the answer is complete. */
  respond(request: LanguageModelRequest): AsyncIterable<string | ToolCall | TokenUsage>;
}

export interface LanguageModelRequest {
  messages: readonly Message[];
  tools: readonly ToolDeclaration[];
  signal: AbortSignal;
}

export type Message = SystemMessage | UserMessage | AssistantMessage | ToolMessage;

export interface SystemMessage {
  role: "system";
  content: string;
}

export interface UserMessage {
  role: "user";
  content: string;
}

export interface AssistantMessage {
  role: "assistant";
  /** The part of the message that was heard. */
  content: string;
  toolCalls?: ToolCall[];
}

/** Result of a tool call. Every call of an assistant's message has one, even a cancelled one. */
export interface ToolMessage {
  role: "tool";
  callId: string;
  name: string;
  content: string;
}

export interface ToolCall {
  type: "tool-call";
  id: string;
  name: string;
  /** JSON, as the model wrote it. */
  arguments: string;
  /** Data the provider wants back with the results of this call. */
  providerData?: unknown;
}

export interface TokenUsage {
  type: "usage";
  inputTokens: number;
  outputTokens: number;
}

export interface ToolDeclaration {
  name: string;
  description: string;
  /** JSON Schema of an object. */
  parameters: Record<string, unknown>;
}

/** Turns text into speech. */
export interface TextToSpeech {
  readonly name?: string;
  /** The company that runs it; named in errors. @default name */
  readonly vendor?: string;
  /**
   * Speaks a sentence. Yields audio of any rate and frame length, and the times of words if the voice knows them.
   * Times count from the beginning of the sentence; the words' texts, joined, are its beginning.
   */
  speak(text: string, options: SpeakOptions): AsyncIterable<AudioFrame | SpokenWords>;
}

export interface SpeakOptions {
  signal: AbortSignal;
  /** The text spoken just before, for voices that continue its intonation. */
  previousText: string;
}

export interface SpokenWords {
  words: readonly TimedWord[];
}

export function isAudio(part: AudioFrame | SpokenWords): part is AudioFrame {
  return "samples" in part;
}
