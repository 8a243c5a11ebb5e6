// Answers every turn with services that take no time, so that what is left is ours.
import { createConversation, createTransport, fixedSilence, type RunnerArguments } from "vocalhost";
import {
  createHum,
  createPhrases,
  createScriptedModel,
  hearLoudness,
} from "../../testing/voice-stand-ins.ts";

export const PHRASES = ["Hello there my friend."];
export const SILENCE_MS = 200;

export async function bot(args: RunnerArguments): Promise<void> {
  const transport = await createTransport(args);
  const conversation = createConversation(transport, {
    stt: createPhrases(PHRASES).stt(),
    llm: createScriptedModel(() => "Good day."),
    tts: createHum(),
    turn: { voiceActivity: hearLoudness(), stopMs: SILENCE_MS, endOfTurn: fixedSilence(SILENCE_MS) },
  });
  await conversation.run();
}

if (import.meta.main) await (await import("vocalhost/runner")).main();
