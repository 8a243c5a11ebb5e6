import { createResampler, frameMs, type AudioFrame } from "@vocalhost/audio";
import { createListeners } from "../listeners.ts";
import { createVoiceActivityDetector, type VoiceActivity } from "../speech/voice-activity.ts";
import { gateVolume } from "../speech/volume-gate.ts";
import { heardWords, timeWords } from "../speech/words.ts";
import type { AudioInput, Transport } from "../transports/transport.ts";
import { createApology, type Apology } from "./apology.ts";
import {
  checkRealtimeConversationOptions,
  type Conversation,
  type ConversationEvents,
  type RealtimeConversationOptions,
} from "./conversation-options.ts";
import { FrameQueue } from "./frame-queue.ts";
import { openLastingSession, type LastingSession, type LastingSessionOptions } from "./lasting-session.ts";
import { reportFailure } from "./report-failure.ts";
import { runTools } from "./run-tools.ts";
import { ServiceFailure } from "./service-failure.ts";
import type { AssistantMessage, Message, ToolCall, ToolDeclaration, ToolMessage } from "./services.ts";
import { spokenText } from "./spoken-text.ts";
import { declareTools, type Tools } from "./tool.ts";
import { createUnanswered, type Unanswered } from "./unanswered.ts";
import { watchSilence } from "./watch-silence.ts";

const SERVICE_TIMEOUT_MS = 4_000;

interface Answer {
  message: AssistantMessage;
  text: string;
  audioMs: number;
  /** Position of its first sample in the playback. */
  baseMs: number | undefined;
  isComplete: boolean;
  firstAudioAtMs: number | undefined;
  /** The turn it answers. */
  turn: Turn;
  over: PromiseWithResolvers<void>;
}

interface Turn {
  speechEndedAtMs: number;
  toolCalls: number;
  inputTokens: number;
  outputTokens: number;
}

/**
 * Creates a conversation with a model that hears and speaks itself. The model decides about turns; tools, context
 * and client events work as in `createConversation`.
 */
export function createRealtimeConversation(
  transport: Transport,
  options: RealtimeConversationOptions,
): Conversation {
  checkRealtimeConversationOptions(options);
  return new RealtimeConversation(transport, options);
}

class RealtimeConversation implements Conversation {
  readonly transport: Transport;
  readonly #options: RealtimeConversationOptions;
  readonly #listeners = createListeners<ConversationEvents>();
  readonly #tools: Tools;
  readonly #declarations: readonly ToolDeclaration[];
  readonly messages: Message[];
  readonly #over = new AbortController();
  readonly #signal: AbortSignal;
  readonly #finished = Promise.withResolvers<void>();
  readonly #frames: FrameQueue<Answer | undefined>;
  readonly #limitMs: number;
  readonly #apology: Apology;
  #session: LastingSession | undefined;
  #unanswered: Unanswered | undefined;
  #answer: Answer | undefined;
  #working = new AbortController(); // aborts tools when the user interrupts
  #isEnding = false;
  #pendingTools = 0;
  #turns = 0;
  #isUserSpeaking = false;
  #isAnswerDue = false; // the user has finished, and the model is about to answer
  #isApologising = false;
  #lateResults: ToolMessage[] = []; // kept until the bot has finished speaking
  #turn = newTurn(performance.now());
  readonly on: Conversation["on"] = this.#listeners.on;
  readonly off: Conversation["off"] = this.#listeners.off;

  constructor(transport: Transport, options: RealtimeConversationOptions) {
    this.transport = transport;
    this.#options = options;
    this.#tools = options.tools ?? {};
    this.#declarations = declareTools(this.#tools);
    const instructions = options.context?.instructions;
    this.messages = instructions === undefined ? [] : [{ role: "system", content: instructions }];
    this.#signal = AbortSignal.any([transport.signal, this.#over.signal]);
    this.#limitMs = options.serviceTimeoutMs ?? SERVICE_TIMEOUT_MS;
    this.#frames = new FrameQueue({
      audioOut: transport.audioOut,
      signal: this.#signal,
      written: (frame, said) => this.#onWritten(frame, said),
    });
    this.#apology = createApology({
      text: options.apology,
      tts: options.tts,
      toSpeech: spokenText,
      limitMs: this.#limitMs,
      signal: this.#signal,
    });
  }

  get isAnswering(): boolean {
    return this.#answer !== undefined;
  }

  readonly run: Conversation["run"] = async () => {
    const { model } = this.#options;
    const audioIn = this.#options.audioIn ?? this.transport.audioIn;
    using stack = new DisposableStack();
    this.#unanswered = createUnanswered({
      voiceActivity: this.#listenTo(audioIn, stack),
      modelRateHz: model.inputRateHz,
      limitMs: this.#limitMs,
      botIsHeard: () => this.transport.audioOut.queuedMs > 0,
      started: () => this.#apology.reset(),
    });
    const opened = openLastingSession({
      model,
      instructions: this.#options.context?.instructions,
      tools: this.#declarations,
      limitMs: this.#limitMs,
      signal: this.#signal,
      unanswered: this.#unanswered,
      events: this.#events,
      history: () => this.messages.filter(({ role, content }) => role !== "system" && content !== ""),
      failed: this.#onSessionLost,
    });
    this.#session = opened;
    stack.use(
      watchSilence({
        audioOut: this.transport.audioOut,
        limitMs: this.#limitMs,
        owedSinceMs: this.#owedSinceMs,
        silent: this.#onSilence,
      }),
    );
    this.transport.rtvi.on("send-text", this.#onText);
    try {
      if (this.#options.greeting !== undefined) opened.say(this.#options.greeting);
      this.#apology
        .prepare()
        .catch((error: unknown) => this.#failed(new ServiceFailure("tts", this.#options.tts ?? {}, error)));
      await Promise.race([
        hear(audioIn, opened, this.#unanswered, model.inputRateHz),
        this.#finished.promise,
      ]);
    } finally {
      this.#isEnding = true;
      this.#over.abort(new Error("The conversation is over"));
      this.transport.rtvi.off("send-text", this.#onText);
      this.#answer?.over.resolve();
      opened.close();
    }
  };

  readonly say: Conversation["say"] = async (text) => {
    this.#session?.say(text);
    const said = this.#current();
    await said.over.promise;
    return { heard: said.message.content, interrupted: said.message.content !== said.text };
  };

  readonly respond: Conversation["respond"] = async (text) => {
    this.interrupt();
    if (text !== undefined) this.messages.push({ role: "user", content: text });
    this.#session?.userText(text ?? "");
    await this.#current().over.promise;
  };

  readonly interrupt = (): void => {
    this.#working.abort(new Error("The user interrupted"));
    this.#working = new AbortController();
    this.#frames.clear();
    const { playedMs, interrupted } = this.transport.audioOut.clear();
    const said = this.#answer;
    if (!said) return;
    const heardMs = Math.max(0, playedMs - (said.baseMs ?? 0));
    if (interrupted || !said.isComplete) this.#session?.interrupted(said.baseMs === undefined ? 0 : heardMs);
    const heard = heardWords(
      timeWords(said.text, Math.max(said.audioMs, 1)),
      said.baseMs === undefined ? 0 : heardMs,
    )
      .map(({ text }) => text)
      .join("")
      .trim();
    this.transport.rtvi.botInterrupted();
    this.#settle(said, said.baseMs === undefined ? "" : heard, true);
  };

  readonly end: Conversation["end"] = () => {
    this.#isEnding = true;
    if (!this.#answer && this.#pendingTools === 0) this.#finished.resolve();
  };

  readonly #events: LastingSessionOptions["events"] = {
    userStarted: () => {
      this.#isUserSpeaking = true;
      this.#isAnswerDue = false;
      this.transport.rtvi.userStartedSpeaking();
      // A reopened session that hears replayed speech reports its beginning again.
      if (this.#answer || !this.#isApologising) this.interrupt();
      this.#tellLateResults();
    },
    userStopped: () => {
      this.#isUserSpeaking = false;
      this.#isAnswerDue = true;
      this.#turn = newTurn(performance.now());
      this.transport.rtvi.userStoppedSpeaking();
    },
    userText: (text) => {
      if (text.trim() === "") return;
      this.transport.rtvi.userTranscription({ text: text.trim(), final: true });
      this.#listeners.emit("user-said", { text: text.trim() });
      // The text often arrives after the answer has begun.
      this.#addMessage({ role: "user", content: text.trim() });
    },
    audio: (frame) => {
      const said = this.#current();
      if (said.audioMs === 0) this.#unanswered?.clear();
      else this.#unanswered?.answering();
      said.audioMs += frameMs(frame);
      this.#frames.push(frame, said);
      this.#pump().catch(this.#failed);
    },
    text: (text) => {
      const said = this.#current();
      said.text += text;
      said.message.content = said.text;
      this.transport.rtvi.send("bot-llm-text", { text });
    },
    toolCalls: (calls) => {
      this.#unanswered?.clear();
      this.#use(calls).catch(this.#failed);
    },
    answered: () => {
      this.#isAnswerDue = false;
      if (!this.#unanswered?.isUserSpeaking) this.#unanswered?.clear();
      if (!this.#answer) return this.#tellLateResults();
      this.#complete(this.#answer);
    },
    usage: ({ inputTokens, outputTokens }) => {
      const { turn: answered } = this.#answer ?? { turn: this.#turn };
      answered.inputTokens += inputTokens;
      answered.outputTokens += outputTokens;
    },
    failed: (error) => this.#failed(new ServiceFailure("llm", this.#options.model, error)),
  };

  readonly #onText = (message: { content: string }): void =>
    void this.respond(message.content).catch(this.#failed);

  readonly #failed = (error: unknown): void => {
    if (this.#signal.aborted) return;
    this.#listeners.emit("error", reportFailure(this.transport, error));
  };

  /** Tells the caller that something is wrong: in words once, then by tones. */
  #apologise(): void {
    if (this.#isApologising) return;
    const words = this.#apology.words({ speak: false });
    for (const frame of words?.sound ?? [this.#apology.tones]) this.#frames.push(frame, undefined);
    this.#isApologising = true;
    this.#pump()
      .then(() => this.transport.audioOut.drained({ signal: this.#signal }))
      .then(({ interrupted }) => {
        this.#isApologising = false;
        if (!words || interrupted) return;
        this.#addMessage({ role: "assistant", content: words.text });
        this.transport.rtvi.botOutput(words.text).completed();
        this.#listeners.emit("bot-said", { text: words.text, interrupted });
      })
      .catch(this.#failed);
  }

  /** Inserts a message before the current answer, which ends later. */
  #addMessage(message: Message): void {
    const at = this.#answer ? this.messages.indexOf(this.#answer.message) : this.messages.length;
    this.messages.splice(at, 0, message);
  }

  readonly #onSessionLost = (failure: ServiceFailure, how: { isOutage: boolean; isLast: boolean }): void => {
    // No speech is cut off while tools run.
    const wasSpeaking =
      this.#pendingTools === 0 && this.#answer?.isComplete === false && this.#answer.audioMs > 0;
    const isOwed = this.#owedSinceMs() !== undefined;
    this.#failed(failure);
    if (this.#isUserSpeaking) this.transport.rtvi.userStoppedSpeaking();
    this.#isUserSpeaking = false;
    if (wasSpeaking || (isOwed && how.isOutage)) this.#apologise();
    if (!this.#answer) return;
    if (this.#answer.audioMs === 0 && !this.#answer.isComplete)
      this.#answer.text = this.#answer.message.content = "";
    // An answer that was partly heard is not repeated.
    if (wasSpeaking || how.isLast) this.#complete(this.#answer);
  };

  /** Returns since when the caller has been waiting for the bot. */
  readonly #owedSinceMs = (): number | undefined => {
    if (!this.#session || !this.#unanswered || this.#unanswered.isUserSpeaking) return undefined;
    const isUnfinished = this.#answer !== undefined && !this.#answer.isComplete && this.#pendingTools === 0;
    return this.#unanswered.sinceMs ?? (isUnfinished ? this.#session.toldAtMs : undefined);
  };

  #current(): Answer {
    if (this.#answer) return this.#answer;
    this.#answer = {
      message: { role: "assistant", content: "" },
      text: "",
      audioMs: 0,
      baseMs: undefined,
      isComplete: false,
      firstAudioAtMs: undefined,
      turn: this.#turn,
      over: Promise.withResolvers<void>(),
    };
    this.messages.push(this.#answer.message);
    this.transport.rtvi.send("bot-llm-started", undefined);
    return this.#answer;
  }

  async #pump(): Promise<void> {
    if (this.#frames.isWriting) return;
    await this.#frames.write();
    await this.#finishIfHeard();
  }

  #onWritten(frame: AudioFrame, said: Answer | undefined): void {
    if (!said || said.baseMs !== undefined) return;
    const { audioOut, rtvi } = this.transport;
    said.baseMs = Math.max(0, audioOut.playedMs + audioOut.queuedMs - frameMs(frame));
    said.firstAudioAtMs = performance.now();
    rtvi.send("bot-tts-started", undefined);
  }

  async #finishIfHeard(): Promise<void> {
    const said = this.#answer;
    if (!said?.isComplete || !this.#frames.isDone) return;
    await this.transport.audioOut.drained({ signal: this.#signal });
    if (this.#answer === said) this.#settle(said, said.text, false);
  }

  #complete(said: Answer): void {
    said.isComplete = true;
    if (said.audioMs === 0) return this.#settle(said, said.text, false);
    this.#finishIfHeard().catch(this.#failed);
  }

  #settle(said: Answer, heard: string, interrupted: boolean): void {
    this.#answer = undefined;
    this.#isAnswerDue = false;
    said.message.content = heard;
    if (heard === "" && !said.message.toolCalls) this.messages.splice(this.messages.indexOf(said.message), 1);
    this.transport.rtvi.send("bot-llm-stopped", undefined);
    if (said.baseMs !== undefined) this.transport.rtvi.send("bot-tts-stopped", undefined);
    if (heard !== "" && said.audioMs > 0) this.transport.rtvi.botOutput(heard).completed();
    if (heard !== "" || interrupted) this.#listeners.emit("bot-said", { text: heard, interrupted });
    this.#tellFigures(said, interrupted);
    said.over.resolve();
    if (this.#isEnding && this.#pendingTools === 0) this.#finished.resolve();
    this.#tellLateResults();
  }

  /** Passes on results of tools that outlived an interruption, once neither side is speaking. */
  #tellLateResults(): void {
    if (this.#lateResults.length === 0 || this.#signal.aborted || this.#answer || this.#isAnswerDue) return;
    const results = this.#lateResults;
    this.#lateResults = [];
    // If the user is speaking, the model's next answer takes the results into account.
    this.#session?.toolResults(results, { answer: !this.#isUserSpeaking });
  }

  #tellFigures({ firstAudioAtMs, turn: answered }: Answer, interrupted: boolean): void {
    this.#turns += 1;
    const { speechEndedAtMs, ...counts } = answered;
    const sinceMs = firstAudioAtMs === undefined ? undefined : firstAudioAtMs - speechEndedAtMs;
    this.#listeners.emit("turn", {
      turn: this.#turns,
      decidedMs: 0,
      understoodMs: undefined,
      firstTokenMs: sinceMs,
      firstSpeechMs: sinceMs,
      firstAudioMs: sinceMs,
      ...counts,
      interrupted,
    });
  }

  async #use(calls: ToolCall[]): Promise<void> {
    const said = this.#current();
    said.message.toolCalls = [...(said.message.toolCalls ?? []), ...calls];
    this.#turn.toolCalls += calls.length;
    this.#pendingTools += 1;
    const { signal: interruption } = this.#working;
    try {
      const { messages: results, running } = await runTools(calls, {
        tools: this.#tools,
        conversation: this,
        rtvi: this.transport.rtvi,
        signal: AbortSignal.any([interruption, this.#signal]),
        sessionSignal: this.#signal,
        fill: (text) => (this.transport.audioOut.queuedMs === 0 ? this.#session?.say(text) : undefined),
        failed: this.#failed,
        late: (message) => {
          this.#lateResults.push(message);
          this.#tellLateResults();
        },
      });
      const next: AssistantMessage = { role: "assistant", content: "" };
      this.messages.splice(
        this.messages.indexOf(said.message) + 1,
        0,
        ...results,
        ...(this.#answer === said ? [next] : []),
      );
      // The model's words about the results are another message of the same answer.
      if (this.#answer === said)
        Object.assign(said, { message: next, text: "", audioMs: 0, baseMs: undefined });
      const known = results.filter((message) => !running.has(message));
      if (!this.#signal.aborted && known.length > 0)
        this.#session?.toolResults(known, { answer: !interruption.aborted });
    } finally {
      this.#pendingTools -= 1;
    }
  }

  readonly #onSilence = (): void => {
    this.#session?.silent();
    if (this.#owedSinceMs() !== undefined && this.#frames.isEmpty) this.#apologise();
  };

  #listenTo({ sampleRateHz }: AudioInput, stack: DisposableStack): VoiceActivity {
    const own =
      this.#options.voiceActivity ??
      stack.adopt(createVoiceActivityDetector({ sampleRateHz }), (made) => made.free());
    return gateVolume(own, { sampleRateHz });
  }
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

function newTurn(speechEndedAtMs: number): Turn {
  return { speechEndedAtMs, toolCalls: 0, inputTokens: 0, outputTokens: 0 };
}
