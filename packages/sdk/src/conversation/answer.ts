import type { AudioFrame } from "@vocalhost/audio";
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
import { limitWaits } from "./limit-waits.ts";
import { ServiceFailure } from "./service-failure.ts";
import { createSentenceSplitter } from "./split-sentences.ts";
import type { Tools } from "./tool.ts";
import { untilItWorks } from "./until-it-works.ts";
import type { Sentence, Utterance } from "./utterance.ts";

export interface AnswerOptions {
  transport: Transport;
  conversation: Conversation;
  llm: LanguageModel;
  tools: Tools;
  declarations: readonly ToolDeclaration[];
  messages: Message[];
  /** Undefined: the answer is only shown. */
  utterance: Pick<Utterance, "add" | "insert" | "isIdle"> | undefined;
  maxSteps: number;
  /** Longest wait for the model's first word, and between two. */
  limitMs: number;
  /** The user interrupted, or the session ended. */
  signal: AbortSignal;
  sessionSignal: AbortSignal;
  firstToken(): void;
  toolCalled(): void;
  toolsDone(): void;
  usage(usage: { inputTokens: number; outputTokens: number }): void;
  /** A tool failed. */
  failed(error: unknown): void;
  /** The model failed; `isOutage`: it failed again, or will not be asked again. */
  modelFailed(failure: ServiceFailure, isOutage: boolean): void;
}

/** What the bot answers: written by the model, said sentence by sentence, with tools between. */
export interface Answer {
  /** Resolves when the model has finished, or was stopped. */
  write(): Promise<void>;
  /** Makes the messages say what was heard. Call when it has been heard, or was cut. */
  settle(): void;
  /** Says something beside what the model writes; with its sound, at once. */
  add(text: string, sound?: readonly AudioFrame[]): Sentence | undefined;
}

interface Step {
  message: AssistantMessage;
  sentences: Sentence[];
  written: string;
  /** Something the model wrote was said or shown. */
  isSaid: boolean;
}

export function createAnswer(options: AnswerOptions): Answer {
  const { messages, utterance, signal, transport } = options;
  const { rtvi } = transport;
  const steps: Step[] = [];
  let step: Step | undefined;

  function begin(): Step {
    const begun: Step = {
      message: { role: "assistant", content: "" },
      sentences: [],
      written: "",
      isSaid: false,
    };
    steps.push(begun);
    step = begun;
    return begun;
  }

  function say(current: Step, text: string, sound?: readonly AudioFrame[]): Sentence | undefined {
    if (signal.aborted) return undefined;
    if (!messages.includes(current.message)) messages.push(current.message);
    if (!utterance) {
      rtvi.botOutput(text, { spoken: false });
      return undefined;
    }
    const sentence = sound ? utterance.insert(text, sound) : utterance.add(text);
    current.sentences.push(sentence);
    return sentence;
  }

  async function think(current: Step): Promise<ToolCall[]> {
    const tools = steps.length < options.maxSteps ? options.declarations : [];
    const request = { messages: structuredClone(messages), tools };
    const { limitMs, llm } = options;
    return untilItWorks(() => ask(current, request), {
      limitMs,
      signal,
      asFailure: (error) => new ServiceFailure("llm", llm, error),
      mayRetry: () => !current.isSaid,
      failed: options.modelFailed,
    });
  }

  async function ask(current: Step, request: Omit<LanguageModelRequest, "signal">): Promise<ToolCall[]> {
    const calls: ToolCall[] = [];
    const splitter = createSentenceSplitter();
    const { limitMs, llm } = options;
    const tell = (sentence: string): void => {
      current.isSaid = true;
      say(current, sentence);
    };
    current.written = "";
    rtvi.send("bot-llm-started", undefined);
    try {
      const respond = (of: AbortSignal) => llm.respond({ ...request, signal: of });
      for await (const part of limitWaits(respond, { limitMs, signal })) {
        if (signal.aborted) break;
        if (typeof part === "string") {
          if (part === "") continue;
          options.firstToken();
          current.written += part;
          current.message.content = current.written;
          rtvi.send("bot-llm-text", { text: part });
          for (const sentence of splitter.push(part)) tell(sentence);
        } else if (part.type === "usage") options.usage(part);
        else {
          options.firstToken();
          calls.push(part);
        }
      }
      for (const sentence of splitter.flush()) tell(sentence);
    } finally {
      rtvi.send("bot-llm-stopped", undefined);
    }
    return signal.aborted ? [] : calls;
  }

  async function use(current: Step, calls: ToolCall[]): Promise<void> {
    if (!messages.includes(current.message)) messages.push(current.message);
    current.message.toolCalls = calls;
    for (const _ of calls) options.toolCalled();
    const { messages: results } = await runTools(calls, {
      tools: options.tools,
      conversation: options.conversation,
      rtvi,
      signal,
      sessionSignal: options.sessionSignal,
      fill: (text) => (utterance?.isIdle ? say(current, text) : undefined),
      failed: options.failed,
    });
    options.toolsDone();
    // Right behind the calls, whatever was added meanwhile: every model wants them there.
    messages.splice(messages.indexOf(current.message) + 1, 0, ...results);
  }

  return {
    async write() {
      for (let count = 0; count < options.maxSteps && !signal.aborted; count += 1) {
        const current = begin();
        const calls = await think(current);
        if (calls.length === 0) return;
        await use(current, calls);
      }
    },
    add: (text, sound) => say(step ?? begin(), text, sound),
    settle() {
      for (const { message, sentences } of steps) {
        if (!utterance) continue;
        message.content = sentences
          .map((sentence) => sentence.heard())
          .filter((text) => text !== "")
          .join(" ");
        const at = messages.indexOf(message);
        if (at !== -1 && message.content === "" && !message.toolCalls) messages.splice(at, 1);
      }
    },
  };
}
