// Listens, thinks, uses tools and answers; speak while it does, and it stops. OPENAI_API_KEY is all it needs;
// OPENAI_BASE_URL names another service that speaks the same protocol, DESK_NUMBER whom phone calls are handed on to.
import { createConversation, createTransport, tool, z, type RunnerArguments } from "vocalhost";
import { openai } from "vocalhost/providers/openai";

const INSTRUCTIONS = `You answer the phone of Trattoria Rosa. Speak in one to three short, plain sentences.
When the caller says goodbye, say goodbye as well and hang up.`;

const tools = {
  opening_hours: tool({
    description: "Looks up when the restaurant is open",
    parameters: z.object({ day: z.string().describe("Day of the week, in English") }),
    filler: "Let me have a look.",
    run: ({ day }) => (/monday/i.test(day) ? "closed" : "from 12 to 22 o'clock"),
  }),
  connect: tool({
    description: "Connects the caller with somebody at the restaurant",
    whenInterrupted: "finish",
    async run(_, { conversation }) {
      const { call } = conversation.transport;
      const { DESK_NUMBER } = process.env;
      if (!call || !DESK_NUMBER) return "Nobody can be reached";
      await conversation.say("One moment, I am connecting you.");
      return await call.transfer(DESK_NUMBER); // the session ends with it
    },
  }),
  hang_up: tool({
    description: "Ends the call",
    run: (_, { conversation }) => conversation.end(),
  }),
};

/** Runs before the first call, so that a missing key is noticed before a caller waits for an answer. */
export function prewarm(): void {
  services();
}

export async function bot(args: RunnerArguments): Promise<void> {
  const transport = await createTransport(args);
  const conversation = createConversation(transport, {
    ...services(),
    tools,
    context: { instructions: INSTRUCTIONS },
    greeting: "Trattoria Rosa, good day!",
    apology: "I am sorry, something went wrong. Please say that again.",
  });
  await conversation.run();
}

function services() {
  const { STT_MODEL, LLM_MODEL, TTS_MODEL, TTS_VOICE } = process.env;
  return {
    stt: openai.stt({ model: STT_MODEL }),
    llm: openai.llm({ model: LLM_MODEL }),
    tts: openai.tts({ model: TTS_MODEL, voice: TTS_VOICE }),
  };
}

if (import.meta.main) await (await import("vocalhost/runner")).main();
