import type { AudioFrame } from "@vocalhost/audio";
import type { TimedWord } from "../speech/words.ts";

// What a conversation needs of others. Each interface is one method wide, so that a vendor's own SDK fits in a few lines.

/** Turns speech into text. */
export interface SpeechToText {
  /** Appears in figures. */
  readonly name?: string;
  /** Who runs it; errors say so. @default name */
  readonly vendor?: string;
  /** Called for each conversation, and once more whenever the stream it gave has failed. */
  open(options: SpeechToTextOptions): SpeechToTextStream | Promise<SpeechToTextStream>;
}

export interface SpeechToTextOptions {
  sampleRateHz: number;
  /** Aborts when the conversation is over, or gives this stream up. */
  signal: AbortSignal;
  /** What has been understood since the last `flush`, while somebody speaks; may be called as often as it changes. */
  partial(text: string): void;
}

export interface SpeechToTextStream {
  /** Takes speech as it comes, with some silence around it; the silence between is left out. */
  write(frame: AudioFrame): void;
  /** Somebody paused: gives the text of what was written since the last `flush`, empty if there are no words in it. */
  flush(): Promise<string>;
  close?(): void;
}

/** Answers a conversation. */
export interface LanguageModel {
  readonly name?: string;
  /** Who runs it; errors say so. @default name */
  readonly vendor?: string;
  /** Text as it is written, strings of any length, and the tools the model wants to use. Ends when the model has. */
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
  /** What was heard of it. */
  content: string;
  toolCalls?: ToolCall[];
}

/** What came of a tool call. Every call of an assistant's message has one, also one that was cancelled. */
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
  /** What a provider wants to see again when it is told of this call. */
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
  /** Who runs it; errors say so. @default name */
  readonly vendor?: string;
  /**
   * Speaks a sentence: audio as it is made, of any rate and length, and when each word is heard, if the voice knows.
   * Words are counted from where the sentence begins; their texts joined are its beginning.
   */
  speak(text: string, options: SpeakOptions): AsyncIterable<AudioFrame | SpokenWords>;
}

export interface SpeakOptions {
  signal: AbortSignal;
  /** What is said before it in the same breath, for voices that carry their tone on. */
  previousText: string;
}

export interface SpokenWords {
  words: readonly TimedWord[];
}

export function isAudio(part: AudioFrame | SpokenWords): part is AudioFrame {
  return "samples" in part;
}
