import type { AudioFrame } from "@vocalhost/audio";
import type { Message, TokenUsage, ToolCall, ToolDeclaration, ToolMessage } from "./services.ts";

/** A model that hears and speaks itself. It decides about turns, and reports what was said as text. */
export interface SpeechModel {
  readonly name?: string;
  /** The company that runs it; named in errors. @default name */
  readonly vendor?: string;
  /** Sample rate of its input. */
  readonly inputRateHz: number;
  /** Called once for each conversation, and again whenever a session has ended. */
  open(options: SpeechModelOptions): SpeechModelSession;
}

export interface SpeechModelOptions {
  instructions: string | undefined;
  tools: readonly ToolDeclaration[];
  signal: AbortSignal;
  events: SpeechModelEvents;
}

/** Callbacks through which a model reports events. */
export interface SpeechModelEvents {
  /** The model has accepted the settings. */
  ready(): void;
  userStarted(): void;
  userStopped(): void;
  /** The text of the user's turn; called once a turn, often after the answer has begun. */
  userText(text: string): void;
  audio(frame: AudioFrame): void;
  /** More text of the current answer. */
  text(text: string): void;
  toolCalls(calls: ToolCall[]): void;
  /** The answer is complete, or was interrupted. */
  answered(): void;
  usage(usage: Omit<TokenUsage, "type">): void;
  /** A request failed, and the session continues. */
  failed(error: Error): void;
  /** The session has ended or is unusable. */
  ended(error: Error): void;
}

export interface SpeechModelSession {
  write(frame: AudioFrame): void;
  /** Called when the user interrupts, with the part of the answer that was heard. */
  interrupted(playedMs: number): void;
  /**
   * Gives the results of tool calls. With `answer`, the model answers them; without, it must not speak because of
   * them.
   */
  toolResults(results: readonly ToolMessage[], options: { answer: boolean }): void;
  /** Gives messages from before the session was opened; the model must not answer them. */
  tell(messages: readonly Message[]): void;
  /**
   * Gives text that the user typed, and has the model answer. An empty text asks for an answer to what it was
   * told.
   */
  userText(text: string): void;
  /** Says this, as nearly in these words as the model can. */
  say(text: string): void;
  close(): void;
}

/** Puts a message into the words of one of two speakers. */
export function inWords(message: Message): { role: "user" | "assistant"; text: string } {
  const { role, content } = message;
  if (role === "tool") return { role: "user", text: `Result of ${message.name}: ${content}` };
  return { role: role === "assistant" ? role : "user", text: content };
}
