import { MockLanguageModelV4, simulateReadableStream } from "ai/test";
import assert from "node:assert/strict";
import { test } from "node:test";
import type { ToolCall } from "../conversation/services.ts";
import { aiSdk } from "./ai.ts";

const usage = {
  inputTokens: { total: 5, noCache: 5, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 3, text: 3, reasoning: undefined },
};

test("a model of the AI SDK answers, calls tools and is told what came of them", async () => {
  const model = new MockLanguageModelV4({
    modelId: "mock",
    doStream: async () => ({
      stream: simulateReadableStream({
        chunks: [
          { type: "stream-start", warnings: [] },
          { type: "text-start", id: "1" },
          { type: "text-delta", id: "1", delta: "It is " },
          { type: "text-delta", id: "1", delta: "warm." },
          { type: "text-end", id: "1" },
          { type: "tool-call", toolCallId: "c2", toolName: "news", input: '{"city":"Rome"}' },
          { type: "finish", finishReason: { unified: "tool-calls", raw: undefined }, usage },
        ],
      }),
    }),
  });
  const earlier: ToolCall = { type: "tool-call", id: "c1", name: "weather", arguments: '{"city":"Rome"}' };
  const llm = aiSdk({ model });
  const parts = [];
  for await (const part of llm.respond({
    messages: [
      { role: "system", content: "Be brief." },
      { role: "user", content: "Hello" },
      { role: "assistant", content: "One moment.", toolCalls: [earlier] },
      { role: "tool", callId: "c1", name: "weather", content: "25" },
    ],
    tools: [{ name: "news", description: "News", parameters: { type: "object", properties: {} } }],
    signal: new AbortController().signal,
  }))
    parts.push(part);
  assert.equal(llm.name, "mock");
  assert.equal(parts.filter((part) => typeof part === "string").join(""), "It is warm.");
  const call = parts.find((part) => typeof part !== "string" && part.type === "tool-call");
  assert.deepEqual([call?.id, call?.name, call?.arguments], ["c2", "news", '{"city":"Rome"}']);
  assert.deepEqual(parts.at(-1), { type: "usage", inputTokens: 5, outputTokens: 3 });
  const { prompt = [], tools = [] } = model.doStreamCalls[0] ?? {};
  assert.deepEqual(
    prompt.map(({ role }) => role),
    ["system", "user", "assistant", "tool"],
  );
  assert.equal(tools[0]?.name, "news");
});

test("a model that fails throws", async () => {
  const model = new MockLanguageModelV4({
    modelId: "mock",
    doStream: () => Promise.reject(new Error("out of order")),
  });
  const run = async (): Promise<void> => {
    for await (const _ of aiSdk({ model, extra: { maxRetries: 0 } }).respond({
      messages: [{ role: "user", content: "Hello" }],
      tools: [],
      signal: new AbortController().signal,
    }));
  };
  await assert.rejects(run, /mock failed/);
});
