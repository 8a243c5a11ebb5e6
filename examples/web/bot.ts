// Talks with whoever opens the page: listens, thinks, uses a tool and answers; speak while it does, and it stops. Without
// OPENAI_API_KEY it repeats what you say, so that page, microphone and loudspeaker can be tried before there is a key.
import {
  createConversation,
  createTransport,
  detectTurns,
  tool,
  z,
  type RunnerArguments,
  type Transport,
} from "vocalhost";
import { openai } from "vocalhost/providers/openai";

const INSTRUCTIONS = `You talk with a visitor of the web page of Trattoria Rosa. Speak in one to three short, plain
sentences.`;

const tools = {
  opening_hours: tool({
    description: "Looks up when the restaurant is open",
    parameters: z.object({ day: z.string().describe("Day of the week, in English") }),
    filler: "Let me have a look.",
    run: ({ day }) => (/monday/i.test(day) ? "closed" : "from 12 to 22 o'clock"),
  }),
};

export async function bot(args: RunnerArguments): Promise<void> {
  const transport = await createTransport(args);
  const { OPENAI_API_KEY, STT_MODEL, LLM_MODEL, TTS_MODEL, TTS_VOICE } = process.env;
  if (!OPENAI_API_KEY) return repeat(transport);
  const conversation = createConversation(transport, {
    stt: openai.stt({ model: STT_MODEL }),
    llm: openai.llm({ model: LLM_MODEL }),
    tts: openai.tts({ model: TTS_MODEL, voice: TTS_VOICE }),
    tools,
    context: { instructions: INSTRUCTIONS },
    greeting: "Welcome to Trattoria Rosa! What can I do for you?",
    apology: "I am sorry, something went wrong. Please say that again.",
  });
  await conversation.run();
}

async function repeat(transport: Transport): Promise<void> {
  const note = "There is no OPENAI_API_KEY yet, so the bot repeats what you say. See .env.example.";
  transport.rtvi.on("client-ready", () => transport.rtvi.serverMessage({ note }));
  for await (const turn of detectTurns(transport)) {
    if (turn.type === "turn-end") transport.audioOut.write(turn.audio);
  }
}

if (import.meta.main) await (await import("vocalhost/runner")).main();
