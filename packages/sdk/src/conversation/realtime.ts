import { createResampler, frameMs, type AudioFrame } from "@vocalhost/audio";
import { checkOptions } from "../check-options.ts";
import { createListeners } from "../listeners.ts";
import { heardWords, timeWords } from "../speech/words.ts";
import type { AudioInput, Transport } from "../transports/transport.ts";
import type { Conversation, ConversationEvents } from "./conversation-options.ts";
import { reportFailure } from "./report-failure.ts";
import { runTools } from "./run-tools.ts";
import { ServiceFailure } from "./service-failure.ts";
import type { AssistantMessage, Message, ToolCall, ToolMessage } from "./services.ts";
import type { SpeechModel, SpeechModelEvents, SpeechModelSession } from "./speech-model.ts";
import { declareTools, type Tools } from "./tool.ts";

export interface RealtimeConversationOptions {
  /** A model that hears and speaks, for instance `openai.realtime()`. */
  model: SpeechModel;
  /** By the name the model calls them. @default none */
  tools?: Tools;
  context?: {
    /** Who the bot is and what it is to do. */
    instructions?: string;
  };
  /** Said first, as nearly in these words as the model can. @default nothing: the user speaks first */
  greeting?: string;
  /** What to listen to. @default transport.audioIn */
  audioIn?: AudioInput;
}

interface Answer {
  message: AssistantMessage;
  text: string;
  audioMs: number;
  /** Where it begins in what is played. */
  baseMs: number | undefined;
  isComplete: boolean;
  firstAudioAtMs: number | undefined;
  /** The turn that it answers. */
  turn: Turn;
  over: PromiseWithResolvers<void>;
}

interface Turn {
  speechEndedAtMs: number;
  toolCalls: number;
  inputTokens: number;
  outputTokens: number;
}

/** A conversation with a model that hears and speaks itself. It decides about turns; tools, context and client are as ever. */
export function createRealtimeConversation(
  transport: Transport,
  options: RealtimeConversationOptions,
): Conversation {
  checkOptions("createRealtimeConversation", options, {
    model: true,
    tools: true,
    context: true,
    greeting: true,
    audioIn: true,
  });
  checkOptions("context of createRealtimeConversation", options.context, { instructions: true });
  const { audioOut, rtvi } = transport;
  const listeners = createListeners<ConversationEvents>();
  const tools = options.tools ?? {};
  const declarations = declareTools(tools);
  const { instructions } = options.context ?? {};
  const messages: Message[] = instructions === undefined ? [] : [{ role: "system", content: instructions }];
  const over = new AbortController();
  const signal = AbortSignal.any([transport.signal, over.signal]);
  const finished = Promise.withResolvers<void>();
  const waiting: AudioFrame[] = []; // models speak faster than anybody listens
  let session: SpeechModelSession | undefined;
  let answer: Answer | undefined;
  let working = new AbortController(); // tools that an interruption cancels
  let isPumping = false;
  let isEnding = false;
  let pendingTools = 0;
  let turns = 0;
  let isUserSpeaking = false;
  let isAnswerDue = false; // the user has finished, and the model is about to answer
  let lateResults: ToolMessage[] = []; // until the bot has said what it is saying
  let turn = newTurn(performance.now());

  function newTurn(speechEndedAtMs: number): Turn {
    return { speechEndedAtMs, toolCalls: 0, inputTokens: 0, outputTokens: 0 };
  }

  function failed(error: unknown): void {
    if (signal.aborted) return;
    listeners.emit("error", reportFailure(transport, error));
  }

  function current(): Answer {
    if (answer) return answer;
    answer = {
      message: { role: "assistant", content: "" },
      text: "",
      audioMs: 0,
      baseMs: undefined,
      isComplete: false,
      firstAudioAtMs: undefined,
      turn,
      over: Promise.withResolvers<void>(),
    };
    messages.push(answer.message);
    rtvi.send("bot-llm-started", undefined);
    return answer;
  }

  async function pump(): Promise<void> {
    if (isPumping) return;
    isPumping = true;
    try {
      for (let frame = waiting.shift(); frame; frame = waiting.shift()) {
        const said = answer;
        const hasSpace = audioOut.write(frame);
        if (said && said.baseMs === undefined) {
          said.baseMs = Math.max(0, audioOut.playedMs + audioOut.queuedMs - frameMs(frame));
          said.firstAudioAtMs = performance.now();
          rtvi.send("bot-tts-started", undefined);
        }
        if (!hasSpace) await audioOut.ready({ signal });
      }
    } finally {
      isPumping = false;
    }
    await finishIfHeard();
  }

  async function finishIfHeard(): Promise<void> {
    const said = answer;
    if (!said?.isComplete || waiting.length > 0 || isPumping) return;
    await audioOut.drained({ signal });
    if (answer === said) settle(said, said.text, false);
  }

  function settle(said: Answer, heard: string, interrupted: boolean): void {
    answer = undefined;
    isAnswerDue = false;
    said.message.content = heard;
    if (heard === "" && !said.message.toolCalls) messages.splice(messages.indexOf(said.message), 1);
    rtvi.send("bot-llm-stopped", undefined);
    if (said.baseMs !== undefined) rtvi.send("bot-tts-stopped", undefined);
    if (heard !== "" && said.audioMs > 0) rtvi.botOutput(heard).completed();
    if (heard !== "" || interrupted) listeners.emit("bot-said", { text: heard, interrupted });
    tellFigures(said, interrupted);
    said.over.resolve();
    if (isEnding && pendingTools === 0) finished.resolve();
    tellLateResults();
  }

  /** Says when nobody else speaks what came of tools that an interruption did not stop. */
  function tellLateResults(): void {
    if (lateResults.length === 0 || signal.aborted || answer || isAnswerDue) return;
    const results = lateResults;
    lateResults = [];
    // Who speaks now is answered by the model, which knows them then.
    session?.toolResults(results, { answer: !isUserSpeaking });
  }

  function tellFigures({ firstAudioAtMs, turn: answered }: Answer, interrupted: boolean): void {
    turns += 1;
    const { speechEndedAtMs, ...counts } = answered;
    const sinceMs = firstAudioAtMs === undefined ? undefined : firstAudioAtMs - speechEndedAtMs;
    listeners.emit("turn", {
      turn: turns,
      decidedMs: 0,
      understoodMs: undefined,
      firstTokenMs: sinceMs,
      firstSpeechMs: sinceMs,
      firstAudioMs: sinceMs,
      ...counts,
      interrupted,
    });
  }

  function cut(): void {
    working.abort(new Error("The user interrupted"));
    working = new AbortController();
    waiting.length = 0;
    const { playedMs, interrupted } = audioOut.clear();
    const said = answer;
    if (!said) return;
    const heardMs = Math.max(0, playedMs - (said.baseMs ?? 0));
    if (interrupted || !said.isComplete) session?.interrupted(said.baseMs === undefined ? 0 : heardMs);
    const heard = heardWords(
      timeWords(said.text, Math.max(said.audioMs, 1)),
      said.baseMs === undefined ? 0 : heardMs,
    )
      .map(({ text }) => text)
      .join("")
      .trim();
    rtvi.botInterrupted();
    settle(said, said.baseMs === undefined ? "" : heard, true);
  }

  async function use(calls: ToolCall[]): Promise<void> {
    const said = current();
    said.message.toolCalls = [...(said.message.toolCalls ?? []), ...calls];
    turn.toolCalls += calls.length;
    pendingTools += 1;
    const { signal: interruption } = working;
    try {
      const { messages: results, running } = await runTools(calls, {
        tools,
        conversation,
        rtvi,
        signal: AbortSignal.any([interruption, signal]),
        sessionSignal: signal,
        fill: (text) => (audioOut.queuedMs === 0 ? session?.say(text) : undefined),
        failed,
        late(message) {
          lateResults.push(message);
          tellLateResults();
        },
      });
      const next: AssistantMessage = { role: "assistant", content: "" };
      messages.splice(messages.indexOf(said.message) + 1, 0, ...results, ...(answer === said ? [next] : []));
      // What it says about the results is another message, of the same answer.
      if (answer === said) Object.assign(said, { message: next, text: "", audioMs: 0, baseMs: undefined });
      const known = results.filter((message) => !running.has(message));
      if (!signal.aborted && known.length > 0) session?.toolResults(known, { answer: !interruption.aborted });
    } finally {
      pendingTools -= 1;
    }
  }

  const events: SpeechModelEvents = {
    userStarted() {
      isUserSpeaking = true;
      isAnswerDue = false;
      rtvi.userStartedSpeaking();
      cut();
      tellLateResults();
    },
    userStopped() {
      isUserSpeaking = false;
      isAnswerDue = true;
      turn = newTurn(performance.now());
      rtvi.userStoppedSpeaking();
    },
    userText(text) {
      if (text.trim() === "") return;
      rtvi.userTranscription({ text: text.trim(), final: true });
      listeners.emit("user-said", { text: text.trim() });
      // Often it is known only when the answer has begun.
      const at = answer ? messages.indexOf(answer.message) : messages.length;
      messages.splice(at, 0, { role: "user", content: text.trim() });
    },
    audio(frame) {
      const said = current();
      said.audioMs += frameMs(frame);
      waiting.push(frame);
      pump().catch(failed);
    },
    text(text) {
      const said = current();
      said.text += text;
      said.message.content = said.text;
      rtvi.send("bot-llm-text", { text });
    },
    toolCalls: (calls) => void use(calls).catch(failed),
    answered() {
      isAnswerDue = false;
      if (!answer) return tellLateResults();
      answer.isComplete = true;
      if (answer.audioMs === 0) return settle(answer, answer.text, false);
      finishIfHeard().catch(failed);
    },
    usage({ inputTokens, outputTokens }) {
      const { turn: answered } = answer ?? { turn };
      answered.inputTokens += inputTokens;
      answered.outputTokens += outputTokens;
    },
    failed: (error) => failed(new ServiceFailure("llm", options.model, error)),
  };

  const onText = (message: { content: string }): void =>
    void conversation.respond(message.content).catch(failed);

  const conversation: Conversation = {
    transport,
    messages,
    on: listeners.on,
    off: listeners.off,
    get isAnswering() {
      return answer !== undefined;
    },
    async run() {
      const { model } = options;
      const opened = model.open({ instructions, tools: declarations, signal, events });
      session = opened;
      rtvi.on("send-text", onText);
      try {
        if (options.greeting !== undefined) opened.say(options.greeting);
        await Promise.race([
          hear(options.audioIn ?? transport.audioIn, opened, model.inputRateHz),
          finished.promise,
        ]);
      } finally {
        isEnding = true;
        over.abort(new Error("The conversation is over"));
        rtvi.off("send-text", onText);
        answer?.over.resolve();
        opened.close();
      }
    },
    async say(text) {
      session?.say(text);
      const said = current();
      await said.over.promise;
      return { heard: said.message.content, interrupted: said.message.content !== said.text };
    },
    async respond(text) {
      cut();
      if (text !== undefined) messages.push({ role: "user", content: text });
      session?.userText(text ?? "");
      await current().over.promise;
    },
    interrupt: cut,
    end() {
      isEnding = true;
      if (!answer && pendingTools === 0) finished.resolve();
    },
  };
  return conversation;
}

async function hear(audioIn: AudioInput, session: SpeechModelSession, rateHz: number): Promise<void> {
  const resampler =
    audioIn.sampleRateHz === rateHz
      ? undefined
      : createResampler({ fromHz: audioIn.sampleRateHz, toHz: rateHz });
  for await (const { samples } of audioIn)
    session.write({ samples: resampler ? resampler.process(samples) : samples, sampleRateHz: rateHz });
}
