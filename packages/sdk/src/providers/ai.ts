import type * as Ai from "ai";
import type { LanguageModel, Message } from "../conversation/services.ts";
import { ServiceError } from "./request.ts";

export interface AiSdkOptions {
  model: Ai.LanguageModel;
  /** Name in metrics. @default the model's id */
  name?: string;
  /** More options of `streamText`, such as temperature or providerOptions. */
  extra?: Record<string, unknown>;
}

/** Uses any model of the AI SDK (`npm install ai` and one of its providers). */
export function aiSdk(options: AiSdkOptions): LanguageModel {
  const { model } = options;
  const name = options.name ?? (typeof model === "string" ? model : model.modelId);
  return {
    name,
    async *respond({ messages, tools, signal }) {
      const { streamText, jsonSchema, tool } = await loadAi();
      const declared = tools.map(({ name: toolName, description, parameters }) => [
        toolName,
        tool({ description, inputSchema: jsonSchema(parameters) }),
      ]);
      const result = streamText({
        ...options.extra,
        model,
        messages: messages.filter(({ role }) => role !== "system").map(toModelMessage),
        ...systemOf(messages),
        ...(tools.length > 0
          ? { tools: Object.fromEntries(declared) as Record<string, ReturnType<typeof tool>> }
          : {}),
        abortSignal: signal,
        onError: () => undefined, // rethrown below
      });
      for await (const part of result.fullStream) {
        if (part.type === "text-delta") yield part.text;
        else if (part.type === "tool-call")
          yield {
            type: "tool-call",
            id: part.toolCallId,
            name: part.toolName,
            arguments: JSON.stringify(part.input ?? {}),
            providerData: part.providerMetadata,
          };
        else if (part.type === "error") throw new ServiceError(`${name} failed`, { cause: part.error });
        else if (part.type === "finish")
          yield {
            type: "usage",
            inputTokens: part.totalUsage.inputTokens ?? 0,
            outputTokens: part.totalUsage.outputTokens ?? 0,
          };
      }
    },
  };
}

async function loadAi(): Promise<typeof Ai> {
  try {
    return await import("ai");
  } catch (error) {
    throw new Error("aiSdk() needs the AI SDK. Install it: npm install ai", { cause: error });
  }
}

function systemOf(messages: readonly Message[]): { system?: string } {
  const texts = messages.filter(({ role }) => role === "system").map(({ content }) => content);
  return texts.length > 0 ? { system: texts.join("\n\n") } : {};
}

function toModelMessage(message: Message): Ai.ModelMessage {
  switch (message.role) {
    case "system":
    case "user":
      return { role: message.role, content: message.content };
    case "tool":
      return {
        role: "tool",
        content: [
          {
            type: "tool-result",
            toolCallId: message.callId,
            toolName: message.name,
            output: { type: "text", value: message.content },
          },
        ],
      };
    case "assistant":
      return {
        role: "assistant",
        content: [
          ...(message.content === "" ? [] : [{ type: "text" as const, text: message.content }]),
          ...(message.toolCalls ?? []).map((call) => ({
            type: "tool-call" as const,
            toolCallId: call.id,
            toolName: call.name,
            input: JSON.parse(call.arguments || "{}") as unknown,
            ...(call.providerData === undefined ? {} : { providerOptions: call.providerData as never }),
          })),
        ],
      };
    default:
      return message satisfies never;
  }
}
