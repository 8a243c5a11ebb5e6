import type { Transport } from "../transports/transport.ts";
import type { Conversation } from "./conversation-options.ts";
import { runTools } from "./run-tools.ts";
import type {
  AssistantMessage,
  LanguageModel,
  Message,
  ToolCall,
  ToolDeclaration,
  ToolMessage,
} from "./services.ts";
import { createSentenceSplitter } from "./split-sentences.ts";
import type { Tools } from "./tool.ts";
import type { Sentence, Utterance } from "./utterance.ts";

export interface AnswerOptions {
  transport: Transport;
  conversation: Conversation;
  llm: LanguageModel;
  tools: Tools;
  declarations: readonly ToolDeclaration[];
  messages: Message[];
  /** Undefined: the answer is only shown. */
  utterance: Pick<Utterance, "add" | "isIdle"> | undefined;
  maxSteps: number;
  /** The user interrupted, or the session ended. */
  signal: AbortSignal;
  sessionSignal: AbortSignal;
  firstToken(): void;
  toolCalled(): void;
  usage(usage: { inputTokens: number; outputTokens: number }): void;
  failed(error: unknown): void;
}

/** What the bot answers: written by the model, said sentence by sentence, with tools between. */
export interface Answer {
  /** Resolves when the model has finished, or was stopped. */
  write(): Promise<void>;
  /** Makes the messages say what was heard. Call when it has been heard, or was cut. */
  settle(): void;
  /** Says something beside what the model writes. */
  add(text: string): Sentence | undefined;
}

interface Step {
  message: AssistantMessage;
  sentences: Sentence[];
  written: string;
}

export function createAnswer(options: AnswerOptions): Answer {
  const { messages, utterance, signal, transport } = options;
  const { rtvi } = transport;
  const steps: Step[] = [];
  let step: Step | undefined;

  function begin(): Step {
    const begun: Step = { message: { role: "assistant", content: "" }, sentences: [], written: "" };
    steps.push(begun);
    step = begun;
    return begun;
  }

  function say(current: Step, text: string): Sentence | undefined {
    if (signal.aborted) return undefined;
    if (!messages.includes(current.message)) messages.push(current.message);
    if (!utterance) {
      rtvi.botOutput(text, { spoken: false });
      return undefined;
    }
    const sentence = utterance.add(text);
    current.sentences.push(sentence);
    return sentence;
  }

  async function think(current: Step): Promise<ToolCall[]> {
    const calls: ToolCall[] = [];
    const splitter = createSentenceSplitter();
    const declarations = steps.length < options.maxSteps ? options.declarations : [];
    rtvi.send("bot-llm-started", undefined);
    try {
      const request = { messages: structuredClone(messages), tools: declarations, signal };
      for await (const part of options.llm.respond(request)) {
        if (signal.aborted) break;
        if (typeof part === "string") {
          if (part === "") continue;
          options.firstToken();
          current.written += part;
          current.message.content = current.written;
          rtvi.send("bot-llm-text", { text: part });
          for (const sentence of splitter.push(part)) say(current, sentence);
        } else if (part.type === "usage") options.usage(part);
        else {
          options.firstToken();
          calls.push(part);
        }
      }
      for (const sentence of splitter.flush()) say(current, sentence);
    } finally {
      rtvi.send("bot-llm-stopped", undefined);
    }
    return signal.aborted ? [] : calls;
  }

  async function use(current: Step, calls: ToolCall[]): Promise<void> {
    if (!messages.includes(current.message)) messages.push(current.message);
    current.message.toolCalls = calls;
    for (const _ of calls) options.toolCalled();
    const results: ToolMessage[] = await runTools(calls, {
      tools: options.tools,
      conversation: options.conversation,
      rtvi,
      signal,
      sessionSignal: options.sessionSignal,
      fill: (text) => (utterance?.isIdle ? say(current, text) : undefined),
      failed: options.failed,
    });
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
    add: (text) => say(step ?? begin(), text),
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
