import type { AudioFrame } from "@vocalhost/audio";
import type { Message, TokenUsage, ToolCall, ToolDeclaration, ToolMessage } from "./services.ts";

/** A model that hears and speaks itself: it takes turns, and text is only what it says about them. */
export interface SpeechModel {
  readonly name?: string;
  /** Who runs it; errors say so. @default name */
  readonly vendor?: string;
  /** What it wants to hear. */
  readonly inputRateHz: number;
  /** Called for each conversation, and once more whenever the session it gave has ended. */
  open(options: SpeechModelOptions): SpeechModelSession;
}

export interface SpeechModelOptions {
  instructions: string | undefined;
  tools: readonly ToolDeclaration[];
  signal: AbortSignal;
  events: SpeechModelEvents;
}

/** What a model tells. */
export interface SpeechModelEvents {
  /** It has taken the settings. */
  ready(): void;
  userStarted(): void;
  userStopped(): void;
  /** What the user said; once for each turn, often after the answer has begun. */
  userText(text: string): void;
  audio(frame: AudioFrame): void;
  /** More of the text of what it says. */
  text(text: string): void;
  toolCalls(calls: ToolCall[]): void;
  /** It has said everything, or was interrupted. */
  answered(): void;
  usage(usage: Omit<TokenUsage, "type">): void;
  /** Something did not work, and the session goes on. */
  failed(error: Error): void;
  /** The session is over, or of no use any more. */
  ended(error: Error): void;
}

export interface SpeechModelSession {
  write(frame: AudioFrame): void;
  /** The user interrupted when so much of the answer had been heard. */
  interrupted(playedMs: number): void;
  /** Tells what came of calls; with `answer`, it answers them, and without nothing may be heard because of them. */
  toolResults(results: readonly ToolMessage[], options: { answer: boolean }): void;
  /** What was said before it was opened: not to be answered. */
  tell(messages: readonly Message[]): void;
  /** The user typed this: answers it, or without a text what was told. */
  userText(text: string): void;
  /** Says this, as nearly in these words as the model can. */
  say(text: string): void;
  close(): void;
}

/** A message as one of two who talk would say it. */
export function inWords(message: Message): { role: "user" | "assistant"; text: string } {
  const { role, content } = message;
  if (role === "tool") return { role: "user", text: `Result of ${message.name}: ${content}` };
  return { role: role === "assistant" ? role : "user", text: content };
}
