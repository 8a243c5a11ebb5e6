// One model hears and speaks itself; tools, events and what the client sees are as with any conversation.
// Needs OPENAI_API_KEY. With GEMINI_API_KEY: gemini.live() of vocalhost/providers/gemini.
import { createRealtimeConversation, createTransport, tool, type RunnerArguments } from "vocalhost";
import { openai } from "vocalhost/providers/openai";

const tools = {
  time: tool({
    description: "Says what time it is",
    run: () => new Date().toLocaleTimeString("en", { timeStyle: "short" }),
  }),
};

/** Runs before the first call, so that a missing key is noticed before a caller waits for an answer. */
export function prewarm(): void {
  openai.realtime();
}

export async function bot(args: RunnerArguments): Promise<void> {
  const transport = await createTransport(args);
  const conversation = createRealtimeConversation(transport, {
    model: openai.realtime({ model: process.env["REALTIME_MODEL"] }),
    tools,
    context: { instructions: "You talk with somebody on the phone. Be brief and friendly." },
    greeting: "Hello, how can I help?",
  });
  await conversation.run();
}

if (import.meta.main) await (await import("vocalhost/runner")).main();
