import type { Transport } from "../transports/transport.ts";
import { createAnswer, type Answer } from "./answer.ts";
import type { Apology } from "./apology.ts";
import type { Conversation } from "./conversation-options.ts";
import type { TurnFigures } from "./figures.ts";
import type { UserTurn } from "./listen.ts";
import { ServiceFailure } from "./service-failure.ts";
import type { LanguageModel, Message, TextToSpeech, ToolDeclaration } from "./services.ts";
import type { Tools } from "./tool.ts";
import { openUtterance, type Sentence, type Utterance } from "./utterance.ts";

/** One answer or announcement of the bot, from its beginning until all of it was heard. There is one at a time. */
export interface Exchange {
  /** Milliseconds still to be heard; infinite while the model or the voice is at work. */
  readonly remainingMs: number;
  /** Asks the model. */
  answer(): void;
  /** Ends when everything given to `say` has been heard, unless the model is at work. */
  start(): void;
  say(text: string): Sentence | undefined;
  /** Tells the caller that something is wrong: in words once, then by tones. `speak`: the voice is known to work. */
  apologise(can: { speak: boolean }): void;
  /** Since when the caller waits for it, by `performance.now()`; undefined while nothing is to be heard. */
  readonly owedSinceMs: number | undefined;
  interrupt(): void;
  readonly done: Promise<ExchangeResult>;
}

export interface ExchangeResult {
  heard: string;
  interrupted: boolean;
  /** Undefined for an exchange that answers no turn. */
  figures: TurnFigures | undefined;
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
  /** False for an answer that is only shown. */
  spoken: boolean;
  failed(error: unknown): void;
}

export function createExchange(options: ExchangeOptions): Exchange {
  return new BotExchange(options);
}

class BotExchange implements Exchange {
  readonly #options: ExchangeOptions;
  readonly #interruption = new AbortController();
  readonly #signal: AbortSignal;
  readonly #marks: { firstToken?: number; firstSpeech?: number; firstAudio?: number } = {};
  readonly #counts = { toolCalls: 0, inputTokens: 0, outputTokens: 0 };
  readonly #done = Promise.withResolvers<ExchangeResult>();
  readonly #utterance: Utterance | undefined;
  readonly #answer: Answer;
  #owedSinceMs: number | undefined;
  #isWriting = false;
  #hasStarted = false;

  constructor(options: ExchangeOptions) {
    const { transport, limitMs } = options;
    this.#options = options;
    this.#signal = AbortSignal.any([options.sessionSignal, this.#interruption.signal]);
    this.#owedSinceMs = owedFrom(options.turn, limitMs);
    this.#utterance = options.spoken
      ? openUtterance({
          transport,
          tts: options.tts,
          toSpeech: options.toSpeech,
          signal: this.#signal,
          limitMs,
          firstSound: () => (this.#marks.firstSpeech ??= performance.now()),
          failed: this.#onFailure,
        })
      : undefined;
    this.#answer = createAnswer({
      ...options,
      utterance: this.#utterance,
      signal: this.#signal,
      modelFailed: this.#onFailure,
      firstToken: () => (this.#marks.firstToken ??= performance.now()),
      toolCalled: () => {
        this.#counts.toolCalls += 1;
        this.#owedSinceMs = undefined; // the tool's filler announces that it takes long
      },
      toolsDone: () => (this.#owedSinceMs = performance.now()),
      usage: ({ inputTokens, outputTokens }) => {
        this.#counts.inputTokens += inputTokens;
        this.#counts.outputTokens += outputTokens;
      },
    });
    transport.audioOut.on("started", this.#onStarted);
  }

  get done(): Promise<ExchangeResult> {
    return this.#done.promise;
  }

  get remainingMs(): number {
    if (this.#isWriting) return Number.POSITIVE_INFINITY;
    return this.#utterance?.remainingMs ?? 0;
  }

  answer(): void {
    this.#isWriting = true;
    this.start();
  }

  start(): void {
    if (this.#hasStarted) return;
    this.#hasStarted = true;
    void this.#run();
  }

  say(text: string): Sentence | undefined {
    return this.#answer.add(text);
  }

  apologise(can: { speak: boolean }): void {
    if (this.#signal.aborted) return;
    const words = this.#options.apology.words(can);
    if (words) this.#answer.add(words.text, words.sound);
    else this.#utterance?.insert("", [this.#options.apology.tones]);
  }

  get owedSinceMs(): number | undefined {
    return this.#signal.aborted || !this.#utterance ? undefined : this.#owedSinceMs;
  }

  interrupt(): void {
    if (this.#interruption.signal.aborted) return;
    this.#utterance?.cut();
    this.#interruption.abort(new Error("The user interrupted"));
  }

  async #run(): Promise<void> {
    try {
      if (this.#isWriting) await this.#answer.write();
    } catch (error) {
      if (!this.#signal.aborted) this.#fail(error);
    } finally {
      this.#owedSinceMs ??= performance.now();
      this.#isWriting = false;
    }
    await this.#utterance?.made().catch((error: unknown) => {
      if (!this.#signal.aborted && !(error instanceof ServiceFailure)) this.#options.failed(error);
    });
    await this.#utterance?.finish();
    if (this.#signal.aborted) this.#utterance?.cut();
    this.#options.transport.audioOut.off("started", this.#onStarted);
    this.#answer.settle();
    this.#done.resolve({
      heard: this.#utterance?.heard() ?? "",
      interrupted: this.#interruption.signal.aborted,
      figures: this.#options.turn && this.#figures(this.#options.turn),
    });
  }

  #fail(error: unknown): void {
    if (error instanceof ServiceFailure) return; // reported when it happened
    this.#options.failed(error);
    this.apologise({ speak: true });
  }

  readonly #onStarted = (): void => void (this.#marks.firstAudio ??= performance.now());

  readonly #onFailure = (failure: ServiceFailure, isOutage: boolean): void => {
    this.#options.failed(failure);
    if (isOutage) this.apologise({ speak: failure.stage !== "tts" });
  };

  #figures({
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
      firstTokenMs: since(this.#marks.firstToken),
      firstSpeechMs: since(this.#marks.firstSpeech),
      firstAudioMs: since(this.#marks.firstAudio),
      ...this.#counts,
      interrupted: this.#interruption.signal.aborted,
    };
  }
}

// The time spent deciding whether the caller has finished is silence too.
function owedFrom(turn: UserTurn | undefined, limitMs: number): number {
  const nowMs = performance.now();
  if (!turn) return nowMs;
  return Math.min(nowMs, Math.max(nowMs - limitMs / 2, turn.speechEndedAtMs + limitMs / 8));
}
