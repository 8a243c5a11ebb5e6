import assert from "node:assert/strict";
import { test } from "node:test";
import type { ConversationOptions } from "./conversation/conversation-options.ts";
import { createConversation } from "./conversation/conversation.ts";
import { createRealtimeConversation } from "./conversation/realtime.ts";
import { declareTools } from "./conversation/tool.ts";
import { deepgram } from "./providers/deepgram.ts";
import { openai } from "./providers/openai.ts";
import type { RunnerArguments } from "./bot/runner-arguments.ts";
import { createTransport } from "./transports/create-transport.ts";
import type { Transport, TransportOptions } from "./transports/transport.ts";

const transport = {} as Transport;
const converse = (options: object): unknown => createConversation(transport, options as ConversationOptions);

const MISSPELT: [() => unknown, RegExp][] = [
  [
    () => converse({ greetng: "Hi" }),
    /^createConversation has no option "greetng". Did you mean "greeting"\?$/,
  ],
  [() => converse({ turn: { stopsMs: 1 } }), /turn of createConversation has no option .* "stopMs"/],
  [() => converse({ turn: { interruptions: { minWord: 1 } } }), /turn.interruptions .* "minWords"/],
  [() => converse({ turn: { volumeGate: { belowDB: 1 } } }), /turn.volumeGate .* "belowDb"/],
  [() => converse({ context: { instruction: "" } }), /context .* "instructions"/],
  [() => converse({ something: 1 }), /no option "something". It knows stt, llm, tts, /],
  [
    () => createRealtimeConversation(transport, { modle: 1 } as never),
    /createRealtimeConversation .* "model"/,
  ],
  [
    () => declareTools({ book: { description: "", run: () => "", wenInterrupted: "finish" } as never }),
    /^Tool "book" has no option "wenInterrupted". Did you mean "whenInterrupted"\?$/,
  ],
  [() => openai.llm({ apiKey: "x", modle: "gpt" } as never), /openai.llm has no option .* "model"/],
  [() => deepgram.stt({ apiKey: "x", langauge: "en" } as never), /deepgram.stt .* "language"/],
];

test("an option that there is not is refused by name, with the one that was meant", async () => {
  for (const [make, message] of MISSPELT) assert.throws(make, { name: "TypeError", message });
  const options = { audioIn: { sampleRate: 8_000 } } as TransportOptions;
  await assert.rejects(createTransport({} as RunnerArguments, options), {
    name: "TypeError",
    message: 'audioIn of createTransport has no option "sampleRate". Did you mean "sampleRateHz"?',
  });
});
