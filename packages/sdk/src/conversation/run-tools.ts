import type { RtviSession } from "../rtvi/rtvi-session.ts";
import type { Conversation } from "./conversation-options.ts";
import type { ToolCall, ToolMessage } from "./services.ts";
import { parseArguments, type Tool, type Tools } from "./tool.ts";
import { messageOf } from "../message-of.ts";

export interface RunToolsOptions {
  tools: Tools;
  conversation: Conversation;
  rtvi: RtviSession;
  /** Aborts when the user interrupts or the session ends. */
  signal: AbortSignal;
  /** Aborts when the session ends. */
  sessionSignal: AbortSignal;
  /** Called when a tool takes long; says this unless the bot is speaking. */
  fill(text: string): void;
  failed(error: unknown): void;
  /** Called when a call that outlived an interruption is done; its message has the result. */
  late?(message: ToolMessage): void;
}

const STILL_RUNNING = "Still running; its result will be here later.";
const CANCELLED = "Cancelled: the user interrupted before it was done.";
const RESULT_MAX_CHARACTERS = 32_000; // about as much as models handle in one message

export interface ToolResults {
  messages: ToolMessage[];
  /** Messages of calls that still run; they are filled in when the calls are done. */
  running: ReadonlySet<ToolMessage>;
}

/** Runs all calls at once. Resolves when all are done, or on an interruption, with cancelled ones marked as such. */
export async function runTools(calls: readonly ToolCall[], options: RunToolsOptions): Promise<ToolResults> {
  const messages = calls.map(({ id, name }) => ({
    role: "tool" as const,
    callId: id,
    name,
    content: STILL_RUNNING,
  }));
  const running = new Set<ToolMessage>(messages);
  const late = new Set<ToolMessage>();
  const runs = calls.map(async (call, at) => {
    const message = messages[at]!;
    await runTool(call, message, options);
    running.delete(message);
    if (late.has(message)) options.late?.(message);
  });
  const { promise: interrupted, resolve } = Promise.withResolvers<void>();
  if (options.signal.aborted) resolve();
  options.signal.addEventListener("abort", () => resolve(), { once: true });
  // Cancelled calls are over at once.
  const cancelled = runs.filter((_, at) => !goesOn(options.tools, calls[at]!));
  await Promise.race([Promise.all(runs), interrupted.then(() => Promise.all(cancelled))]);
  for (const message of running) late.add(message);
  return { messages, running: late };
}

function goesOn(tools: Tools, { name }: ToolCall): boolean {
  return Object.hasOwn(tools, name) && tools[name]?.whenInterrupted === "finish";
}

async function runTool(call: ToolCall, message: ToolMessage, options: RunToolsOptions): Promise<void> {
  const { rtvi } = options;
  const tool = Object.hasOwn(options.tools, call.name) ? options.tools[call.name] : undefined;
  const about = { tool_call_id: call.id, function_name: call.name };
  rtvi.send("llm-function-call-started", { function_name: call.name });
  if (!tool) {
    message.content = `There is no tool called ${call.name}.`;
    return rtvi.send("llm-function-call-stopped", { ...about, cancelled: true });
  }
  const parsed = parseArguments(tool, call.arguments);
  if ("problem" in parsed) {
    message.content = `Invalid arguments: ${parsed.problem}`;
    return rtvi.send("llm-function-call-stopped", { ...about, cancelled: true });
  }
  rtvi.send("llm-function-call-in-progress", { ...about, arguments: parsed.args });
  const outcome = await settle(tool, call, parsed.args, options);
  message.content = outcome.content;
  rtvi.send("llm-function-call-stopped", {
    ...about,
    cancelled: outcome.isCancelled,
    ...(outcome.isCancelled ? {} : { result: outcome.result }),
  });
}

interface Outcome {
  content: string;
  result?: unknown;
  isCancelled: boolean;
}

async function settle(tool: Tool, call: ToolCall, args: unknown, options: RunToolsOptions): Promise<Outcome> {
  const timeoutMs = tool.timeoutMs ?? 30_000;
  const timeout = AbortSignal.timeout(timeoutMs);
  const ends = tool.whenInterrupted === "finish" ? options.sessionSignal : options.signal;
  const signal = AbortSignal.any([ends, timeout]);
  const filler = typeof tool.filler === "function" ? tool.filler(args) : tool.filler;
  const fillTimer =
    filler === undefined ? undefined : setTimeout(() => options.fill(filler), tool.fillerAfterMs ?? 700);
  options.signal.addEventListener("abort", () => clearTimeout(fillTimer), { once: true });
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(new Error("aborted"));
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    const context = { signal, callId: call.id, conversation: options.conversation };
    const run = (async () => tool.run(args, context))();
    const result = await Promise.race([run, aborted]);
    return { content: asText(result), result, isCancelled: false };
  } catch (error) {
    if (ends.aborted) return { content: CANCELLED, isCancelled: true };
    if (timeout.aborted)
      return { content: `It took longer than ${timeoutMs} ms and was cancelled.`, isCancelled: true };
    options.failed(new Error(`Tool ${call.name} failed`, { cause: error }));
    const content = `It failed: ${messageOf(error)}`;
    return { content, result: content, isCancelled: false };
  } finally {
    clearTimeout(fillTimer);
    signal.removeEventListener("abort", onAbort);
  }
}

function asText(result: unknown): string {
  const text = typeof result === "string" ? result : (JSON.stringify(result) ?? "Done.");
  return text.slice(0, RESULT_MAX_CHARACTERS);
}
