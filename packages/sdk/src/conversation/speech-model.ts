import type { AudioFrame } from "@vocalhost/audio";
import type { TokenUsage, ToolCall, ToolDeclaration, ToolMessage } from "./services.ts";

/** A model that hears and speaks itself: it takes turns, and text is only what it says about them. */
export interface SpeechModel {
  readonly name?: string;
  /** Who runs it; errors say so. @default name */
  readonly vendor?: string;
  /** What it wants to hear. */
  readonly inputRateHz: number;
  /** Called once for each conversation. */
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
  failed(error: Error): void;
}

export interface SpeechModelSession {
  write(frame: AudioFrame): void;
  /** The user interrupted when so much of the answer had been heard. */
  interrupted(playedMs: number): void;
  /** Tells what came of calls; with `answer`, it answers them, and without nothing may be heard because of them. */
  toolResults(results: readonly ToolMessage[], options: { answer: boolean }): void;
  /** The user typed this: answers it. */
  userText(text: string): void;
  /** Says this, as nearly in these words as the model can. */
  say(text: string): void;
  close(): void;
}
