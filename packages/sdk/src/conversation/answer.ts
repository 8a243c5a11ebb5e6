import type { AudioFrame } from "@vocalhost/audio";
import type { RtviSession } from "../rtvi/rtvi-session.ts";
import type { Transport } from "../transports/transport.ts";
import type { Conversation } from "./conversation-options.ts";
import { runTools } from "./run-tools.ts";
import type {
  AssistantMessage,
  LanguageModel,
  LanguageModelRequest,
  Message,
  ToolCall,
  ToolDeclaration,
} from "./services.ts";
import { withTimeouts } from "./timeouts.ts";
import { ServiceFailure } from "./service-failure.ts";
import { createSentenceSplitter } from "./split-sentences.ts";
import type { Tools } from "./tool.ts";
import { retry } from "./retry.ts";
import type { Sentence, Utterance } from "./utterance.ts";

export interface AnswerOptions {
  transport: Transport;
  conversation: Conversation;
  llm: LanguageModel;
  tools: Tools;
  declarations: readonly ToolDeclaration[];
  messages: Message[];
  /** Undefined for an answer that is only shown. */
  utterance: Utterance | undefined;
  maxSteps: number;
  /** Longest wait for the model's first word, and between two words. */
  limitMs: number;
  /** Aborts when the user interrupts or the session ends. */
  signal: AbortSignal;
  sessionSignal: AbortSignal;
  firstToken(): void;
  toolCalled(): void;
  toolsDone(): void;
  usage(usage: { inputTokens: number; outputTokens: number }): void;
  /** Called when a tool fails. */
  failed(error: unknown): void;
  /** Called when the model fails; `isOutage`: it failed again, or will not be asked again. */
  modelFailed(failure: ServiceFailure, isOutage: boolean): void;
}

/** The bot's answer: written by the model, spoken sentence by sentence, with tool calls in between. */
export interface Answer {
  /** Resolves when the model has finished, or was stopped. */
  write(): Promise<void>;
  /** Makes the messages contain only the text that was heard. Call it once everything was heard or cut. */
  settle(): void;
  /** Adds a sentence to the model's own; a sentence given with its sound is played at once. */
  add(text: string, sound?: readonly AudioFrame[]): Sentence | undefined;
}

interface Step {
  message: AssistantMessage;
  sentences: Sentence[];
  written: string;
  /** Whether any text of the model was spoken or shown. */
  isSaid: boolean;
}

export function createAnswer(options: AnswerOptions): Answer {
  return new WrittenAnswer(options);
}

class WrittenAnswer implements Answer {
  readonly #options: AnswerOptions;
  readonly #rtvi: RtviSession;
  readonly #steps: Step[] = [];
  #step: Step | undefined;

  constructor(options: AnswerOptions) {
    this.#options = options;
    this.#rtvi = options.transport.rtvi;
  }

  async write(): Promise<void> {
    for (let count = 0; count < this.#options.maxSteps && !this.#options.signal.aborted; count += 1) {
      const current = this.#begin();
      const calls = await this.#think(current);
      if (calls.length === 0) return;
      await this.#use(current, calls);
    }
  }

  add(text: string, sound?: readonly AudioFrame[]): Sentence | undefined {
    return this.#say(this.#step ?? this.#begin(), text, sound);
  }

  settle(): void {
    for (const { message, sentences } of this.#steps) {
      if (!this.#options.utterance) continue;
      message.content = sentences
        .map((sentence) => sentence.heard())
        .filter((text) => text !== "")
        .join(" ");
      const at = this.#options.messages.indexOf(message);
      if (at !== -1 && message.content === "" && !message.toolCalls) this.#options.messages.splice(at, 1);
    }
  }

  #begin(): Step {
    const begun: Step = {
      message: { role: "assistant", content: "" },
      sentences: [],
      written: "",
      isSaid: false,
    };
    this.#steps.push(begun);
    this.#step = begun;
    return begun;
  }

  #say(current: Step, text: string, sound?: readonly AudioFrame[]): Sentence | undefined {
    if (this.#options.signal.aborted) return undefined;
    if (!this.#options.messages.includes(current.message)) this.#options.messages.push(current.message);
    if (!this.#options.utterance) {
      this.#rtvi.botOutput(text, { spoken: false });
      return undefined;
    }
    const sentence = sound ? this.#options.utterance.insert(text, sound) : this.#options.utterance.add(text);
    current.sentences.push(sentence);
    return sentence;
  }

  async #think(current: Step): Promise<ToolCall[]> {
    const tools = this.#steps.length < this.#options.maxSteps ? this.#options.declarations : [];
    const request = { messages: structuredClone(this.#options.messages), tools };
    const { limitMs, llm } = this.#options;
    return retry(() => this.#ask(current, request), {
      limitMs,
      signal: this.#options.signal,
      asFailure: (error) => new ServiceFailure("llm", llm, error),
      mayRetry: () => !current.isSaid,
      failed: this.#options.modelFailed,
    });
  }

  async #ask(current: Step, request: Omit<LanguageModelRequest, "signal">): Promise<ToolCall[]> {
    const calls: ToolCall[] = [];
    const splitter = createSentenceSplitter();
    const { limitMs, llm } = this.#options;
    const tell = (sentence: string): void => {
      current.isSaid = true;
      this.#say(current, sentence);
    };
    current.written = "";
    this.#rtvi.send("bot-llm-started", undefined);
    try {
      const respond = (of: AbortSignal) => llm.respond({ ...request, signal: of });
      for await (const part of withTimeouts(respond, { limitMs, signal: this.#options.signal })) {
        if (this.#options.signal.aborted) break;
        if (typeof part === "string") {
          if (part === "") continue;
          this.#options.firstToken();
          current.written += part;
          current.message.content = current.written;
          this.#rtvi.send("bot-llm-text", { text: part });
          for (const sentence of splitter.push(part)) tell(sentence);
        } else if (part.type === "usage") this.#options.usage(part);
        else {
          this.#options.firstToken();
          calls.push(part);
        }
      }
      for (const sentence of splitter.flush()) tell(sentence);
    } finally {
      this.#rtvi.send("bot-llm-stopped", undefined);
    }
    return this.#options.signal.aborted ? [] : calls;
  }

  async #use(current: Step, calls: ToolCall[]): Promise<void> {
    if (!this.#options.messages.includes(current.message)) this.#options.messages.push(current.message);
    current.message.toolCalls = calls;
    for (const _ of calls) this.#options.toolCalled();
    const { messages: results } = await runTools(calls, {
      tools: this.#options.tools,
      conversation: this.#options.conversation,
      rtvi: this.#rtvi,
      signal: this.#options.signal,
      sessionSignal: this.#options.sessionSignal,
      fill: (text) => (this.#options.utterance?.isIdle ? this.#say(current, text) : undefined),
      failed: this.#options.failed,
    });
    this.#options.toolsDone();
    // Models require results directly after their calls, whatever was added to the messages meanwhile.
    this.#options.messages.splice(this.#options.messages.indexOf(current.message) + 1, 0, ...results);
  }
}
