import assert from "node:assert/strict";
import { test } from "node:test";
import type { ConversationOptions } from "../conversation/conversation-options.ts";
import { createConversation } from "../conversation/conversation.ts";
import { tool } from "../conversation/tool.ts";
import type { RunnerArguments } from "../bot/runner-arguments.ts";
import { createTransport } from "../transports/create-transport.ts";
import { lastUserText, toolCall } from "./services.ts";
import { talk, type StandIns } from "./talk.ts";

const booked: unknown[] = [];

async function bot(args: RunnerArguments, services: StandIns): Promise<void> {
  const transport = await createTransport(args);
  const options: ConversationOptions = {
    ...services,
    greeting: "Good morning.",
    tools: {
      book_table: tool({ description: "Books a table", run: () => void booked.push(args.body) }),
    },
  };
  await createConversation(transport, options).run();
}

test("a bot is told text, answers it, uses its tools and returns when the caller hangs up", async () => {
  await using call = await talk(bot, {
    body: { name: "Ada" },
    answer: (request) =>
      request.messages.at(-1)?.role === "tool"
        ? "You are booked."
        : lastUserText(request).includes("table")
          ? [toolCall("book_table", {})]
          : "What can I do for you?",
  });
  await call.hears("Good morning.");
  await call.say("Hello.");
  await call.hears("What can I do for you?");
  await call.say("A table for two, please.");
  await call.hears(/booked/);
  assert.deepEqual(booked, [{ name: "Ada" }]);
  assert.equal(lastUserText(call.requests.at(-1)!), "A table for two, please.");
  call.hangUp();
  await call.over;
});

test("a bot that throws is a test that fails", async () => {
  await using call = await talk(() => Promise.reject(new Error("no key")));
  await assert.rejects(call.hears("anything"), /no key/);
});
