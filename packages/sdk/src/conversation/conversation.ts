import { createApology } from "./apology.ts";
import { createListeners } from "../listeners.ts";
import { meaningfulWords } from "../speech/back-channels.ts";
import type { Transport } from "../transports/transport.ts";
import { judgeBargeIn } from "./barge-in.ts";
import {
  checkConversationOptions,
  type Conversation,
  type ConversationEvents,
  type ConversationOptions,
} from "./conversation-options.ts";
import { createExchange, type Exchange } from "./exchange.ts";
import type { TurnFigures } from "./figures.ts";
import type { UserTurn } from "./listen.ts";
import { openEars, type Ears } from "./ears.ts";
import { reportFailure } from "./report-failure.ts";
import type { Message } from "./services.ts";
import { createSentenceSplitter } from "./split-sentences.ts";
import { spokenText } from "./spoken-text.ts";
import { ServiceFailure } from "./service-failure.ts";
import { declareTools } from "./tool.ts";
import { watchSilence } from "./watch-silence.ts";

// Who speaks when so little is left does not interrupt but answer, even with a mere "yes".
const LAST_WORDS_MS = 800;

export function createConversation(transport: Transport, options: ConversationOptions): Conversation {
  checkConversationOptions(options);
  const { rtvi, audioOut } = transport;
  const listeners = createListeners<ConversationEvents>();
  const tools = options.tools ?? {};
  const declarations = declareTools(tools);
  const interruptions = options.turn?.interruptions ?? {};
  const { instructions, messages: earlier = [] } = options.context ?? {};
  const messages: Message[] = instructions === undefined ? [] : [{ role: "system", content: instructions }];
  messages.push(...earlier);
  const over = new AbortController();
  const signal = AbortSignal.any([transport.signal, over.signal]);
  const finished = Promise.withResolvers<void>();
  const limitMs = options.serviceTimeoutMs ?? 4_000;
  const toSpeech = options.toSpeech ?? spokenText;
  const apology = createApology({ text: options.apology, tts: options.tts, toSpeech, limitMs, signal });
  let ears: Ears | undefined;
  let current: Exchange | undefined;
  let apologising: Exchange | undefined; // for a turn whose words are not known yet
  let queued: UserTurn | undefined; // said while the bot could not be interrupted
  let isEnding = false;
  let isHeld = false;
  let isUserSpeaking = false;
  let botWasHeard = false; // since the user's last turn
  let mayInterrupt = false; // the turn that goes on, by when it began
  let shownText = "";
  let turns = 0;

  function failed(error: unknown): void {
    if (signal.aborted) return;
    listeners.emit("error", reportFailure(transport, error));
  }

  function begin(what: { turn?: UserTurn; interruptible: boolean; spoken: boolean }): Exchange {
    if (what.turn) turns += 1;
    const exchange = createExchange({
      transport,
      conversation,
      llm: options.llm,
      tts: options.tts,
      tools,
      declarations,
      messages,
      toSpeech,
      apology,
      maxSteps: options.maxSteps ?? 8,
      limitMs,
      sessionSignal: signal,
      turn: what.turn && { ...what.turn, number: turns },
      interruptible: what.interruptible && interruptions !== false,
      spoken: what.spoken,
      failed,
    });
    current = exchange;
    // Who is speaking already is heard out, as far as they mean to be.
    mayInterrupt = isUserSpeaking && exchange.interruptible;
    if (mayInterrupt) hold();
    void exchange.done.then(onExchangeOver, failed);
    return exchange;
  }

  function apologise(can: { speak: boolean }): void {
    if (current) return current.apologise(can);
    apologising = begin({ interruptible: false, spoken: true });
    apologising.apologise(can);
    apologising.start();
  }

  function onTranscriberFailed(failure: ServiceFailure, isOutage: boolean): void {
    failed(failure);
    if (isOutage && ears?.waitsSinceMs !== undefined) apologise({ speak: true });
  }

  /** What is wrong with the voice is known before somebody has to be told by it. */
  function prepareApology(): void {
    apology.prepare().catch((error: unknown) => failed(new ServiceFailure("tts", options.tts, error)));
  }

  function onExchangeOver(over: {
    heard: string;
    interrupted: boolean;
    figures: TurnFigures | undefined;
  }): void {
    current = undefined;
    if (isHeld) release();
    if (over.heard !== "" || over.interrupted)
      listeners.emit("bot-said", { text: over.heard, interrupted: over.interrupted });
    if (over.figures) {
      tellMetrics(over.figures);
      listeners.emit("turn", over.figures);
    }
    if (isEnding) return finish();
    const turn = queued;
    queued = undefined;
    if (turn) answer(turn);
  }

  function tellMetrics({
    decidedMs,
    firstTokenMs,
    firstSpeechMs,
    inputTokens,
    outputTokens,
  }: TurnFigures): void {
    const ttfb = [];
    if (firstTokenMs !== undefined)
      ttfb.push({ processor: options.llm.name ?? "llm", value: (firstTokenMs - decidedMs) / 1000 });
    if (firstSpeechMs !== undefined && firstTokenMs !== undefined)
      ttfb.push({ processor: options.tts.name ?? "tts", value: (firstSpeechMs - firstTokenMs) / 1000 });
    if (ttfb.length > 0) rtvi.metrics({ ttfb });
    if (inputTokens + outputTokens > 0)
      rtvi.metrics({
        tokens: [
          {
            prompt_tokens: inputTokens,
            completion_tokens: outputTokens,
            total_tokens: inputTokens + outputTokens,
          },
        ],
      });
  }

  function hold(): void {
    if (isHeld) return;
    isHeld = true;
    audioOut.pause();
  }

  function release(): void {
    isHeld = false;
    audioOut.resume();
  }

  function interrupt(): void {
    if (!current || current.isInterrupted) return;
    isHeld = false;
    current.interrupt();
    rtvi.botInterrupted();
  }

  function onStarted(): void {
    isUserSpeaking = true;
    apology.reset();
    rtvi.userStartedSpeaking();
    shownText = "";
    mayInterrupt = current !== undefined && current.interruptible && current.remainingMs > LAST_WORDS_MS;
    if (mayInterrupt) hold();
  }

  function onUnderstood(speech: { text: string; isPause: boolean; speechMs: number }): void {
    if (speech.text !== shownText && speech.text !== "") {
      shownText = speech.text;
      rtvi.userTranscription({ text: speech.text, final: false });
    }
    if (!mayInterrupt || !current || current.isInterrupted || interruptions === false) return;
    const verdict = judgeBargeIn(speech, interruptions);
    switch (verdict) {
      case "interrupts":
        return interrupt();
      case "goes-on":
        if (!isHeld) return;
        release();
        return listeners.emit("false-interruption", { text: speech.text });
      case "not-yet-known":
        return hold();
      default:
        return verdict satisfies never;
    }
  }

  function onEnded(turn: UserTurn): void {
    isUserSpeaking = false;
    botWasHeard = false;
    rtvi.userStoppedSpeaking();
    if (turn.text === "") return;
    rtvi.userTranscription({ text: turn.text, final: true });
    listeners.emit("user-said", { text: turn.text });
    if (current && !current.isInterrupted) {
      // It was judged to be no interruption, or is no more than "go on": the bot speaks on.
      if (mayInterrupt) return;
      if (!current.interruptible && current !== apologising && meaningfulWords(turn.text) === 0) return;
    }
    answer(turn);
  }

  function answer(turn: UserTurn): void {
    if (isEnding) return;
    if (current) {
      // Either it has been interrupted and is about to end, or it must be heard first.
      queued = queued ? { ...turn, text: `${queued.text} ${turn.text}` } : turn;
      return;
    }
    addUserText(turn.text);
    begin({ turn, interruptible: true, spoken: true }).answer();
  }

  function addUserText(text: string): void {
    const last = messages.at(-1);
    // Nothing was heard of an answer between: it is one turn.
    if (last?.role === "user") last.content += ` ${text}`;
    else messages.push({ role: "user", content: text });
    rtvi.send("user-llm-text", { text });
  }

  async function respond(text: string | undefined, spoken: boolean): Promise<void> {
    while (current && !signal.aborted) {
      interrupt();
      await current.done;
    }
    if (isEnding || signal.aborted) return;
    if (text !== undefined) addUserText(text);
    const nowMs = performance.now();
    const turn = {
      text: text ?? "",
      speechMs: 0,
      speechEndedAtMs: nowMs,
      understoodAtMs: nowMs,
      decidedAtMs: nowMs,
    };
    const exchange = begin({ turn, interruptible: true, spoken });
    exchange.answer();
    await exchange.done;
  }

  function waitsSinceMs(): number | undefined {
    const sinceMs = ears?.waitsSinceMs;
    return sinceMs === undefined ? undefined : sinceMs + limitMs / 8;
  }

  function finish(): void {
    finished.resolve();
  }

  const onBotHeard = (): void => void (botWasHeard = true);
  const onText = (message: { content: string; runImmediately: boolean; audioResponse: boolean }): void => {
    if (message.runImmediately) respond(message.content, message.audioResponse).catch(failed);
    else addUserText(message.content);
  };
  const onAppend = (addition: {
    role: "user" | "assistant";
    content: unknown;
    run_immediately?: boolean | null;
  }): void => {
    const content =
      typeof addition.content === "string" ? addition.content : JSON.stringify(addition.content);
    messages.push({ role: addition.role, content });
    if (addition.run_immediately) respond(undefined, true).catch(failed);
  };

  const conversation: Conversation = {
    transport,
    messages,
    on: listeners.on,
    off: listeners.off,
    get isAnswering() {
      return current !== undefined;
    },
    async run() {
      if (isEnding) return;
      createSentenceSplitter().push("Ready."); // what it needs takes its time, now and not before the first answer
      rtvi.on("send-text", onText);
      rtvi.on("append-to-context", onAppend);
      audioOut.on("started", onBotHeard);
      await using opened = await openEars({
        transport,
        stt: options.stt,
        turn: options.turn ?? {},
        limitMs,
        signal,
        started: onStarted,
        understood: onUnderstood,
        ended: onEnded,
        botWasHeard: () => botWasHeard,
        failed,
        transcriberFailed: onTranscriberFailed,
      });
      ears = opened;
      using _ = watchSilence({
        audioOut,
        limitMs,
        owedSinceMs: () => (current ? current.owedSinceMs : waitsSinceMs()),
        silent: () => apologise({ speak: current === undefined }),
      });
      if (options.greeting) void conversation.say(options.greeting).then(prepareApology);
      else prepareApology();
      try {
        await Promise.race([opened.ended, finished.promise]);
        // Who can hear no more may still have something to say to the end.
        if (!isEnding && !transport.signal.aborted) await current?.done;
      } finally {
        isEnding = true;
        over.abort(new Error("The conversation is over"));
        rtvi.off("send-text", onText);
        rtvi.off("append-to-context", onAppend);
        audioOut.off("started", onBotHeard);
        await current?.done;
      }
    },
    async say(text, say = {}) {
      const splitter = createSentenceSplitter();
      const pieces = [...splitter.push(text), ...splitter.flush()];
      if (current?.isInterrupted) await current.done;
      if (signal.aborted) return { heard: "", interrupted: true };
      const exchange = current ?? begin({ interruptible: say.interruptible ?? true, spoken: true });
      const sentences = pieces
        .map((piece) => exchange.say(piece))
        .filter((sentence) => sentence !== undefined);
      exchange.start();
      await Promise.all(sentences.map(({ over: heard }) => heard));
      const heard = sentences.map((sentence) => sentence.heard()).filter((part) => part !== "");
      return { heard: heard.join(" "), interrupted: heard.join(" ") !== pieces.join(" ") };
    },
    respond: (text) => respond(text, true),
    interrupt,
    end() {
      isEnding = true;
      if (!current) finish();
    },
  };
  return conversation;
}
