import type { Transport } from "../transports/transport.ts";
import { createAnswer } from "./answer.ts";
import type { Apology } from "./apology.ts";
import type { Conversation } from "./conversation-options.ts";
import type { TurnFigures } from "./figures.ts";
import type { UserTurn } from "./listen.ts";
import { ServiceFailure } from "./service-failure.ts";
import type { LanguageModel, Message, TextToSpeech, ToolDeclaration } from "./services.ts";
import type { Tools } from "./tool.ts";
import { openUtterance, type Sentence } from "./utterance.ts";

/** Everything the bot does and says until the user is to speak again. There is one at a time. */
export interface Exchange {
  readonly interruptible: boolean;
  readonly isInterrupted: boolean;
  /** What is still to be heard; infinite while it is not known. */
  readonly remainingMs: number;
  /** Asks the model. */
  answer(): void;
  /** Ends when what `say` was given has been heard, unless the model is at work. */
  start(): void;
  say(text: string): Sentence | undefined;
  /** Tells the caller that something is wrong: in words once, then by tones. `speak`: the voice is known to work. */
  apologise(can: { speak: boolean }): void;
  /** Since when the caller waits for it, by `performance.now()`; undefined while nothing is to be heard. */
  readonly owedSinceMs: number | undefined;
  interrupt(): void;
  readonly done: Promise<{ heard: string; interrupted: boolean; figures: TurnFigures | undefined }>;
}

export interface ExchangeOptions {
  transport: Transport;
  conversation: Conversation;
  llm: LanguageModel;
  tts: TextToSpeech;
  tools: Tools;
  declarations: readonly ToolDeclaration[];
  messages: Message[];
  toSpeech(text: string): string;
  apology: Apology;
  maxSteps: number;
  limitMs: number;
  sessionSignal: AbortSignal;
  turn: (UserTurn & { number: number }) | undefined;
  interruptible: boolean;
  spoken: boolean;
  failed(error: unknown): void;
}

export function createExchange(options: ExchangeOptions): Exchange {
  const { transport, turn } = options;
  const interruption = new AbortController();
  const signal = AbortSignal.any([options.sessionSignal, interruption.signal]);
  const marks: { firstToken?: number; firstSpeech?: number; firstAudio?: number } = {};
  const counts = { toolCalls: 0, inputTokens: 0, outputTokens: 0 };
  const said: Sentence[] = [];
  const beganAtMs = performance.now();
  let owedSinceMs: number | undefined = turn
    ? // Thinking about whether the caller has finished is silence too.
      Math.min(
        beganAtMs,
        Math.max(beganAtMs - options.limitMs / 2, turn.speechEndedAtMs + options.limitMs / 8),
      )
    : beganAtMs;
  let isWriting = false;
  let hasStarted = false;
  const { promise: done, resolve } = Promise.withResolvers<Awaited<Exchange["done"]>>();

  const utterance = options.spoken
    ? openUtterance({
        transport,
        tts: options.tts,
        toSpeech: options.toSpeech,
        signal,
        limitMs: options.limitMs,
        firstSound: () => (marks.firstSpeech ??= performance.now()),
        failed: onFailure,
      })
    : undefined;
  const answer = createAnswer({
    ...options,
    utterance: utterance && {
      get isIdle() {
        return utterance.isIdle;
      },
      add(text) {
        const sentence = utterance.add(text);
        said.push(sentence);
        return sentence;
      },
      insert(text, sound) {
        const sentence = utterance.insert(text, sound);
        said.push(sentence);
        return sentence;
      },
    },
    signal,
    modelFailed: onFailure,
    firstToken: () => (marks.firstToken ??= performance.now()),
    toolCalled() {
      counts.toolCalls += 1;
      owedSinceMs = undefined; // a tool says itself that it takes long
    },
    toolsDone: () => (owedSinceMs = performance.now()),
    usage: ({ inputTokens, outputTokens }) => {
      counts.inputTokens += inputTokens;
      counts.outputTokens += outputTokens;
    },
  });
  const onStarted = (): void => void (marks.firstAudio ??= performance.now());
  transport.audioOut.on("started", onStarted);

  async function run(): Promise<void> {
    try {
      if (isWriting) await answer.write();
    } catch (error) {
      if (!signal.aborted) fail(error);
    } finally {
      owedSinceMs ??= performance.now();
      isWriting = false;
    }
    await utterance?.made().catch((error: unknown) => {
      if (!signal.aborted && !(error instanceof ServiceFailure)) options.failed(error);
    });
    await utterance?.finish();
    if (signal.aborted) utterance?.cut();
    transport.audioOut.off("started", onStarted);
    answer.settle();
    const heard = said
      .map((sentence) => sentence.heard())
      .filter((text) => text !== "")
      .join(" ");
    resolve({ heard, interrupted: interruption.signal.aborted, figures: turn && figures(turn) });
  }

  function fail(error: unknown): void {
    if (error instanceof ServiceFailure) return; // told when it happened
    options.failed(error);
    apologise({ speak: true });
  }

  function onFailure(failure: ServiceFailure, isOutage: boolean): void {
    options.failed(failure);
    if (isOutage) apologise({ speak: failure.stage !== "tts" });
  }

  function apologise(can: { speak: boolean }): void {
    if (signal.aborted) return;
    const words = options.apology.words(can);
    if (words) answer.add(words.text, words.sound);
    else utterance?.insert("", [options.apology.tones]);
  }

  function figures({
    number,
    speechEndedAtMs,
    understoodAtMs,
    decidedAtMs,
  }: UserTurn & { number: number }): TurnFigures {
    const since = (mark: number | undefined): number | undefined =>
      mark === undefined ? undefined : mark - speechEndedAtMs;
    return {
      turn: number,
      decidedMs: decidedAtMs - speechEndedAtMs,
      understoodMs: since(understoodAtMs),
      firstTokenMs: since(marks.firstToken),
      firstSpeechMs: since(marks.firstSpeech),
      firstAudioMs: since(marks.firstAudio),
      ...counts,
      interrupted: interruption.signal.aborted,
    };
  }

  function start(): void {
    if (hasStarted) return;
    hasStarted = true;
    void run();
  }

  return {
    interruptible: options.interruptible,
    done,
    get isInterrupted() {
      return interruption.signal.aborted;
    },
    get remainingMs() {
      if (isWriting) return Number.POSITIVE_INFINITY;
      return utterance?.remainingMs ?? 0;
    },
    answer() {
      isWriting = true;
      start();
    },
    start,
    say: (text) => answer.add(text),
    apologise,
    get owedSinceMs() {
      return signal.aborted || !utterance ? undefined : owedSinceMs;
    },
    interrupt() {
      if (interruption.signal.aborted) return;
      utterance?.cut();
      interruption.abort(new Error("The user interrupted"));
    },
  };
}
