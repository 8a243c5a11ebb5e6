import { createListeners } from "../listeners.ts";
import type { Transport } from "../transports/transport.ts";
import { createApology, type Apology } from "./apology.ts";
import {
  checkConversationOptions,
  type Conversation,
  type ConversationEvents,
  type ConversationOptions,
} from "./conversation-options.ts";
import { createExchange, type Exchange, type ExchangeResult } from "./exchange.ts";
import { metricsOf } from "./figures.ts";
import { openHearing, type Hearing } from "./hearing.ts";
import type { UserTurn } from "./listen.ts";
import { reportFailure } from "./report-failure.ts";
import { ServiceFailure } from "./service-failure.ts";
import type { Message, ToolDeclaration } from "./services.ts";
import { createSentenceSplitter } from "./split-sentences.ts";
import { spokenText } from "./spoken-text.ts";
import { declareTools, type Tools } from "./tool.ts";
import {
  INITIAL_TURN_TAKING,
  nextTurnTaking,
  type BargeInSpeech,
  type InterruptionOptions,
  type TurnEffect,
  type TurnEvent,
} from "./turn-taking.ts";
import { watchSilence } from "./watch-silence.ts";

const SERVICE_TIMEOUT_MS = 4_000;
const MAX_STEPS = 8;

/** Creates a conversation of a transcriber, a language model and a voice over a transport. */
export function createConversation(transport: Transport, options: ConversationOptions): Conversation {
  checkConversationOptions(options);
  return new CascadedConversation(transport, options);
}

// Methods are bound, so that callers can destructure a conversation.
class CascadedConversation implements Conversation {
  readonly transport: Transport;
  readonly messages: Message[];
  readonly #options: ConversationOptions;
  readonly #listeners = createListeners<ConversationEvents>();
  readonly on = this.#listeners.on;
  readonly off = this.#listeners.off;
  readonly #tools: Tools;
  readonly #declarations: readonly ToolDeclaration[];
  readonly #interruptions: false | InterruptionOptions;
  readonly #limitMs: number;
  readonly #toSpeech: (text: string) => string;
  readonly #apology: Apology;
  readonly #over = new AbortController();
  readonly #signal: AbortSignal;
  readonly #finished = Promise.withResolvers<void>();
  #hearing: Hearing | undefined;
  #turnTaking = INITIAL_TURN_TAKING;
  #exchange: Exchange | undefined;
  #turns = 0;
  #isEnding = false;

  constructor(transport: Transport, options: ConversationOptions) {
    const { instructions, messages = [] } = options.context ?? {};
    this.transport = transport;
    this.messages = instructions === undefined ? [] : [{ role: "system", content: instructions }];
    this.messages.push(...messages);
    this.#options = options;
    this.#tools = options.tools ?? {};
    this.#declarations = declareTools(this.#tools);
    this.#interruptions = options.turn?.interruptions ?? {};
    this.#limitMs = options.serviceTimeoutMs ?? SERVICE_TIMEOUT_MS;
    this.#toSpeech = options.toSpeech ?? spokenText;
    this.#signal = AbortSignal.any([transport.signal, this.#over.signal]);
    this.#apology = createApology({
      text: options.apology,
      tts: options.tts,
      toSpeech: this.#toSpeech,
      limitMs: this.#limitMs,
      signal: this.#signal,
    });
  }

  get isAnswering(): boolean {
    return this.#exchange !== undefined;
  }

  readonly run = async (): Promise<void> => {
    if (this.#isEnding) return;
    createSentenceSplitter().push("Ready."); // loads its tables now instead of during the first answer
    const { rtvi, audioOut } = this.transport;
    rtvi.on("send-text", this.#onText);
    rtvi.on("append-to-context", this.#onAppend);
    audioOut.on("started", this.#onBotHeard);
    await using hearing = await this.#openHearing();
    this.#hearing = hearing;
    using _ = watchSilence({
      audioOut,
      limitMs: this.#limitMs,
      owedSinceMs: () => (this.#exchange ? this.#exchange.owedSinceMs : this.#waitsSinceMs()),
      silent: () => this.#apologise({ speak: this.#exchange === undefined }),
    });
    const { greeting } = this.#options;
    if (greeting) void this.say(greeting).then(() => this.#prepareApology());
    else this.#prepareApology();
    try {
      await Promise.race([hearing.ended, this.#finished.promise]);
      // Input can end while the bot still has something to say.
      if (!this.#isEnding && !this.transport.signal.aborted) await this.#exchange?.done;
    } finally {
      this.#isEnding = true;
      this.#over.abort(new Error("The conversation is over"));
      rtvi.off("send-text", this.#onText);
      rtvi.off("append-to-context", this.#onAppend);
      audioOut.off("started", this.#onBotHeard);
      await this.#exchange?.done;
    }
  };

  readonly say: Conversation["say"] = async (text, say = {}) => {
    const splitter = createSentenceSplitter();
    const pieces = [...splitter.push(text), ...splitter.flush()];
    if (this.#turnTaking.bot === "interrupted") await this.#exchange?.done;
    if (this.#signal.aborted) return { heard: "", interrupted: true };
    const exchange =
      this.#exchange ??
      this.#begin({ as: say.interruptible === false ? "uninterruptible" : "interruptible", spoken: true });
    const sentences = pieces.map((piece) => exchange.say(piece)).filter((sentence) => sentence !== undefined);
    exchange.start();
    await Promise.all(sentences.map(({ over }) => over));
    const heard = sentences
      .map((sentence) => sentence.heard())
      .filter((part) => part !== "")
      .join(" ");
    return { heard, interrupted: heard !== pieces.join(" ") };
  };

  readonly respond = (text?: string): Promise<void> => this.#respond(text, { spoken: true });

  readonly interrupt = (): void => this.#dispatch({ type: "bot-interrupted" });

  readonly end = (): void => {
    this.#isEnding = true;
    if (!this.#exchange) this.#finished.resolve();
  };

  #openHearing(): Promise<Hearing> {
    return openHearing({
      transport: this.transport,
      stt: this.#options.stt,
      turn: this.#options.turn ?? {},
      limitMs: this.#limitMs,
      signal: this.#signal,
      started: () => this.#onUserStarted(),
      understood: (speech: BargeInSpeech) => this.#dispatch({ type: "user-understood", speech }),
      ended: (turn) => this.#onUserEnded(turn),
      botWasHeard: () => this.#turnTaking.botWasHeard,
      failed: this.#failed,
      transcriberFailed: (failure, isOutage) => this.#onTranscriberFailed(failure, isOutage),
    });
  }

  #dispatch(event: TurnEvent): void {
    const [state, effects] = nextTurnTaking(this.#turnTaking, event, this.#interruptions);
    this.#turnTaking = state;
    for (const effect of effects) this.#perform(effect);
  }

  #perform(effect: TurnEffect): void {
    const { audioOut, rtvi } = this.transport;
    switch (effect.type) {
      case "pause":
        return audioOut.pause();
      case "resume":
        return audioOut.resume();
      case "interrupt":
        this.#exchange?.interrupt();
        return rtvi.botInterrupted();
      case "show-partial":
        return rtvi.userTranscription({ text: effect.text, final: false });
      case "report-false-interruption":
        return this.#listeners.emit("false-interruption", { text: effect.text });
      case "answer":
        return this.#answer(effect.turn);
      default:
        return effect satisfies never;
    }
  }

  #onUserStarted(): void {
    this.#apology.reset();
    this.transport.rtvi.userStartedSpeaking();
    this.#dispatch({ type: "user-started", remainingMs: this.#exchange?.remainingMs ?? 0 });
  }

  #onUserEnded(turn: UserTurn): void {
    const { rtvi } = this.transport;
    this.#dispatch({ type: "user-stopped" });
    rtvi.userStoppedSpeaking();
    if (turn.text === "") return;
    rtvi.userTranscription({ text: turn.text, final: true });
    this.#listeners.emit("user-said", { text: turn.text });
    if (!this.#isEnding) this.#dispatch({ type: "turn-complete", turn });
  }

  #answer(turn: UserTurn): void {
    if (this.#isEnding) return;
    this.#addUserText(turn.text);
    this.#begin({ turn, as: "interruptible", spoken: true }).answer();
  }

  #begin(how: {
    turn?: UserTurn;
    as: "interruptible" | "uninterruptible" | "apologising";
    spoken: boolean;
  }): Exchange {
    const { turn } = how;
    const as = how.as === "interruptible" && this.#interruptions === false ? "uninterruptible" : how.as;
    if (turn) this.#turns += 1;
    const exchange = createExchange({
      transport: this.transport,
      conversation: this,
      llm: this.#options.llm,
      tts: this.#options.tts,
      tools: this.#tools,
      declarations: this.#declarations,
      messages: this.messages,
      toSpeech: this.#toSpeech,
      apology: this.#apology,
      maxSteps: this.#options.maxSteps ?? MAX_STEPS,
      limitMs: this.#limitMs,
      sessionSignal: this.#signal,
      turn: turn && { ...turn, number: this.#turns },
      spoken: how.spoken,
      failed: this.#failed,
    });
    this.#exchange = exchange;
    this.#dispatch({ type: "bot-began", as });
    void exchange.done.then((result) => this.#onExchangeOver(result), this.#failed);
    return exchange;
  }

  #onExchangeOver({ heard, interrupted, figures }: ExchangeResult): void {
    this.#exchange = undefined;
    this.#dispatch({ type: "bot-finished" });
    if (heard !== "" || interrupted) this.#listeners.emit("bot-said", { text: heard, interrupted });
    if (figures) {
      const { llm, tts } = this.#options;
      for (const metrics of metricsOf(figures, { llm: llm.name ?? "llm", tts: tts.name ?? "tts" }))
        this.transport.rtvi.metrics(metrics);
      this.#listeners.emit("turn", figures);
    }
    if (this.#isEnding) this.#finished.resolve();
    else this.#dispatch({ type: "queue-due" });
  }

  async #respond(text: string | undefined, { spoken }: { spoken: boolean }): Promise<void> {
    while (this.#exchange && !this.#signal.aborted) {
      this.interrupt();
      await this.#exchange.done;
    }
    if (this.#isEnding || this.#signal.aborted) return;
    if (text !== undefined) this.#addUserText(text);
    const nowMs = performance.now();
    const turn = {
      text: text ?? "",
      speechMs: 0,
      speechEndedAtMs: nowMs,
      understoodAtMs: nowMs,
      decidedAtMs: nowMs,
    };
    const exchange = this.#begin({ turn, as: "interruptible", spoken });
    exchange.answer();
    await exchange.done;
  }

  #addUserText(text: string): void {
    const last = this.messages.at(-1);
    // If nothing of an answer was heard in between, it is one turn.
    if (last?.role === "user") last.content += ` ${text}`;
    else this.messages.push({ role: "user", content: text });
    this.transport.rtvi.send("user-llm-text", { text });
  }

  readonly #failed = (error: unknown): void => {
    if (this.#signal.aborted) return;
    this.#listeners.emit("error", reportFailure(this.transport, error));
  };

  #onTranscriberFailed(failure: ServiceFailure, isOutage: boolean): void {
    this.#failed(failure);
    if (isOutage && this.#hearing?.waitsSinceMs !== undefined) this.#apologise({ speak: true });
  }

  /** Makes the apology ahead of time, so that a broken voice is noticed before it is needed. */
  #prepareApology(): void {
    this.#apology
      .prepare()
      .catch((error: unknown) => this.#failed(new ServiceFailure("tts", this.#options.tts, error)));
  }

  #apologise(can: { speak: boolean }): void {
    if (this.#exchange) return this.#exchange.apologise(can);
    const exchange = this.#begin({ as: "apologising", spoken: true });
    exchange.apologise(can);
    exchange.start();
  }

  #waitsSinceMs(): number | undefined {
    const sinceMs = this.#hearing?.waitsSinceMs;
    return sinceMs === undefined ? undefined : sinceMs + this.#limitMs / 8;
  }

  readonly #onBotHeard = (): void => this.#dispatch({ type: "bot-heard" });

  readonly #onText = (message: {
    content: string;
    runImmediately: boolean;
    audioResponse: boolean;
  }): void => {
    if (message.runImmediately)
      this.#respond(message.content, { spoken: message.audioResponse }).catch(this.#failed);
    else this.#addUserText(message.content);
  };

  readonly #onAppend = (addition: {
    role: "user" | "assistant";
    content: unknown;
    run_immediately?: boolean | null;
  }): void => {
    const content =
      typeof addition.content === "string" ? addition.content : JSON.stringify(addition.content);
    this.messages.push({ role: addition.role, content });
    if (addition.run_immediately) this.#respond(undefined, { spoken: true }).catch(this.#failed);
  };
}
