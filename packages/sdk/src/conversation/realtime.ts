import { createResampler, frameMs, type AudioFrame } from "@vocalhost/audio";
import { checkOptions } from "../check-options.ts";
import { createListeners } from "../listeners.ts";
import { createVoiceActivityDetector, type VoiceActivity } from "../speech/voice-activity.ts";
import { gateVolume } from "../speech/volume-gate.ts";
import { heardWords, timeWords } from "../speech/words.ts";
import type { AudioInput, Transport } from "../transports/transport.ts";
import { createApology } from "./apology.ts";
import type { Conversation, ConversationEvents } from "./conversation-options.ts";
import { openLastingSession, type LastingSession, type LastingSessionOptions } from "./lasting-session.ts";
import { reportFailure } from "./report-failure.ts";
import { runTools } from "./run-tools.ts";
import { ServiceFailure } from "./service-failure.ts";
import type { AssistantMessage, Message, TextToSpeech, ToolCall, ToolMessage } from "./services.ts";
import type { SpeechModel } from "./speech-model.ts";
import { spokenText } from "./spoken-text.ts";
import { declareTools, type Tools } from "./tool.ts";
import { createUnanswered, type Unanswered } from "./unanswered.ts";
import { watchSilence } from "./watch-silence.ts";

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
  /** Said by `tts` when the model fails. @default two short tones */
  apology?: string;
  /** The voice of the apology, which is made ahead. */
  tts?: TextToSpeech;
  /** Longest wait for the model, and between two pieces of an answer; about as long a caller hears nothing at most. @default 4000 */
  serviceTimeoutMs?: number;
  /** Decides whether somebody spoke whom the model has not heard. @default the Silero model */
  voiceActivity?: VoiceActivity;
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
    apology: true,
    tts: true,
    serviceTimeoutMs: true,
    voiceActivity: true,
    audioIn: true,
  });
  if (options.apology !== undefined && !options.tts)
    throw new TypeError("apology of createRealtimeConversation needs a tts that says it.");
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
  const waiting: { frame: AudioFrame; of: Answer | undefined }[] = []; // models speak faster than anybody listens
  const limitMs = options.serviceTimeoutMs ?? 4_000;
  const { tts } = options;
  const apology = createApology({ text: options.apology, tts, toSpeech: spokenText, limitMs, signal });
  let session: LastingSession | undefined;
  let unanswered: Unanswered | undefined;
  let answer: Answer | undefined;
  let working = new AbortController(); // tools that an interruption cancels
  let isPumping = false;
  let isEnding = false;
  let pendingTools = 0;
  let turns = 0;
  let isUserSpeaking = false;
  let isAnswerDue = false; // the user has finished, and the model is about to answer
  let isApologising = false;
  let lateResults: ToolMessage[] = []; // until the bot has said what it is saying
  let turn = newTurn(performance.now());

  function newTurn(speechEndedAtMs: number): Turn {
    return { speechEndedAtMs, toolCalls: 0, inputTokens: 0, outputTokens: 0 };
  }

  function failed(error: unknown): void {
    if (signal.aborted) return;
    listeners.emit("error", reportFailure(transport, error));
  }

  /** Tells the caller that something is wrong: in words once, then by tones. */
  function apologise(): void {
    if (isApologising) return;
    const words = apology.words({ speak: false });
    for (const frame of words?.sound ?? [apology.tones]) waiting.push({ frame, of: undefined });
    isApologising = true;
    pump()
      .then(() => audioOut.drained({ signal }))
      .then(({ interrupted }) => {
        isApologising = false;
        if (!words || interrupted) return;
        addMessage({ role: "assistant", content: words.text });
        rtvi.botOutput(words.text).completed();
        listeners.emit("bot-said", { text: words.text, interrupted });
      })
      .catch(failed);
  }

  /** Before what is being said, which comes later. */
  function addMessage(message: Message): void {
    const at = answer ? messages.indexOf(answer.message) : messages.length;
    messages.splice(at, 0, message);
  }

  function onSessionLost(failure: ServiceFailure, how: { isOutage: boolean; isLast: boolean }): void {
    // While tools run nothing was broken off.
    const wasSpeaking = pendingTools === 0 && answer?.isComplete === false && answer.audioMs > 0;
    const isOwed = owedSinceMs() !== undefined;
    failed(failure);
    if (isUserSpeaking) rtvi.userStoppedSpeaking();
    isUserSpeaking = false;
    if (wasSpeaking || (isOwed && how.isOutage)) apologise();
    if (!answer) return;
    if (answer.audioMs === 0 && !answer.isComplete) answer.text = answer.message.content = "";
    // What was partly heard is not said again.
    if (wasSpeaking || how.isLast) complete(answer);
  }

  /** Since when the caller waits for the bot. */
  function owedSinceMs(): number | undefined {
    if (!session || !unanswered || unanswered.isUserSpeaking) return undefined;
    const isUnfinished = answer !== undefined && !answer.isComplete && pendingTools === 0;
    return unanswered.sinceMs ?? (isUnfinished ? session.toldAtMs : undefined);
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
      for (let next = waiting.shift(); next; next = waiting.shift()) {
        const { frame, of: said } = next;
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

  function complete(said: Answer): void {
    said.isComplete = true;
    if (said.audioMs === 0) return settle(said, said.text, false);
    finishIfHeard().catch(failed);
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

  const events: LastingSessionOptions["events"] = {
    userStarted() {
      isUserSpeaking = true;
      isAnswerDue = false;
      rtvi.userStartedSpeaking();
      // Who is told again what was said before hears it begin again.
      if (answer || !isApologising) cut();
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
      addMessage({ role: "user", content: text.trim() });
    },
    audio(frame) {
      const said = current();
      if (said.audioMs === 0) unanswered?.clear();
      else unanswered?.answering();
      said.audioMs += frameMs(frame);
      waiting.push({ frame, of: said });
      pump().catch(failed);
    },
    text(text) {
      const said = current();
      said.text += text;
      said.message.content = said.text;
      rtvi.send("bot-llm-text", { text });
    },
    toolCalls(calls) {
      unanswered?.clear();
      use(calls).catch(failed);
    },
    answered() {
      isAnswerDue = false;
      if (!unanswered?.isUserSpeaking) unanswered?.clear();
      if (!answer) return tellLateResults();
      complete(answer);
    },
    usage({ inputTokens, outputTokens }) {
      const { turn: answered } = answer ?? { turn };
      answered.inputTokens += inputTokens;
      answered.outputTokens += outputTokens;
    },
    failed: (error) => failed(new ServiceFailure("llm", options.model, error)),
  };

  function onSilence(): void {
    session?.silent();
    if (owedSinceMs() !== undefined && waiting.length === 0) apologise();
  }

  function listenTo({ sampleRateHz }: AudioInput, stack: DisposableStack): VoiceActivity {
    const own =
      options.voiceActivity ??
      stack.adopt(createVoiceActivityDetector({ sampleRateHz }), (made) => made.free());
    return gateVolume(own, { sampleRateHz });
  }

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
      const audioIn = options.audioIn ?? transport.audioIn;
      using stack = new DisposableStack();
      unanswered = createUnanswered({
        voiceActivity: listenTo(audioIn, stack),
        modelRateHz: model.inputRateHz,
        limitMs,
        botIsHeard: () => audioOut.queuedMs > 0,
        started: () => apology.reset(),
      });
      const opened = openLastingSession({
        model,
        instructions,
        tools: declarations,
        limitMs,
        signal,
        unanswered,
        events,
        history: () => messages.filter(({ role, content }) => role !== "system" && content !== ""),
        failed: onSessionLost,
      });
      session = opened;
      stack.use(watchSilence({ audioOut, limitMs, owedSinceMs, silent: onSilence }));
      rtvi.on("send-text", onText);
      try {
        if (options.greeting !== undefined) opened.say(options.greeting);
        apology.prepare().catch((error: unknown) => failed(new ServiceFailure("tts", tts ?? {}, error)));
        await Promise.race([hear(audioIn, opened, unanswered, model.inputRateHz), finished.promise]);
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

async function hear(
  audioIn: AudioInput,
  session: LastingSession,
  unanswered: Unanswered,
  rateHz: number,
): Promise<void> {
  const resampler =
    audioIn.sampleRateHz === rateHz
      ? undefined
      : createResampler({ fromHz: audioIn.sampleRateHz, toHz: rateHz });
  for await (const { samples } of audioIn) {
    const forModel = resampler ? resampler.process(samples) : samples;
    unanswered.hear(samples, forModel);
    session.write({ samples: forModel, sampleRateHz: rateHz });
  }
}
