// Talks as the script says, with services that need no vendor, and tells what became of it.
import { createConversation, createTransport, tool, z, type RunnerArguments } from "vocalhost";
import { app, main } from "vocalhost/runner";
import {
  createHum,
  createPhrases,
  createScriptedModel,
  hearLoudness,
  lastUserText,
  toolCall,
} from "../../testing/voice-stand-ins.ts";
import {
  FORECAST,
  PHRASES,
  STOP,
  STOPPED,
  STORY,
  WEATHER,
  type ConversationRecord,
} from "../realtime/conversation/script.ts";

const records: ConversationRecord[] = [];
app.get("/conversations", () => records);

export async function bot(args: RunnerArguments): Promise<void> {
  const transport = await createTransport(args);
  const conversation = createConversation(transport, {
    stt: createPhrases(PHRASES).stt(),
    llm: createScriptedModel((request) => {
      if (request.messages.at(-1)?.role === "tool") return FORECAST;
      const text = lastUserText(request);
      if (text.includes(WEATHER)) return [toolCall("weather", { city: "Rome" }, crypto.randomUUID())];
      return text.includes(STOP) ? STOPPED : STORY;
    }),
    tts: createHum(),
    tools: {
      weather: tool({
        description: "Knows the weather",
        parameters: z.object({ city: z.string() }),
        run: ({ city }) => `${city}: 25`,
      }),
    },
    turn: { voiceActivity: hearLoudness() },
  });
  const record: ConversationRecord = {
    sessionId: args.sessionId,
    events: [],
    messages: conversation.messages,
    figures: [],
    errors: [],
  };
  records.push(record);
  transport.audioOut.on("started", () => void record.events.push("speaks"));
  conversation.on("user-said", ({ text }) => void record.events.push(`user: ${text}`));
  conversation.on(
    "bot-said",
    ({ text, interrupted }) => void record.events.push(`${interrupted ? "cut" : "bot"}: ${text}`),
  );
  conversation.on("false-interruption", ({ text }) => void record.events.push(`goes on after: ${text}`));
  conversation.on("turn", (figures) => void record.figures.push(figures));
  conversation.on("error", (error) => void record.errors.push(error.message));
  await conversation.run();
}

await main();
