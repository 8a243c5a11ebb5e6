// An agent of LiveKit's library over every kind of connection, which reports its events.
import { llm, voice } from "@livekit/agents";
import { startAgentSession } from "@vocalhost/livekit-agents";
import { createTransport, type RunnerArguments } from "vocalhost";
import { app, main } from "vocalhost/runner";
import {
  COUGH,
  FAREWELL,
  GOODBYE,
  PHRASES,
  QUESTION,
  RIDDLE,
  STOP,
  STOPPED,
  STORY,
  type SessionRecord,
} from "./agent-script.ts";
import { HumTts, LoudnessVad, PhraseStt } from "./model-stand-ins.ts";

const records: SessionRecord[] = [];
app.get("/agent-sessions", () => records);

export async function bot(args: RunnerArguments): Promise<void> {
  // The test's events would end before the bot knows that no participant comes back.
  const transport = await createTransport(args, { room: { departureTimeoutMs: 200 } });
  const session = new voice.AgentSession({
    vad: new LoudnessVad(),
    stt: new PhraseStt(PHRASES, [COUGH]),
    llm: new BreakableLlm([
      { input: QUESTION, content: STORY },
      { input: STOP, content: STOPPED },
      { input: GOODBYE, content: FAREWELL, toolCalls: [{ name: "hangUp", args: {} }] },
    ]),
    connOptions: { maxUnrecoverableErrors: 0 },
    tts: new HumTts(),
    turnHandling: {
      turnDetection: "vad",
      endpointing: { minDelay: 0, maxDelay: 500 },
      interruption: { mode: "vad", minDuration: 100, falseInterruptionTimeout: 300 },
    },
    aecWarmupDuration: null,
  });
  const record: SessionRecord = { sessionId: args.sessionId, events: [], playbacks: [], history: [] };
  records.push(record);
  const tell = (event: string): void => void record.events.push(event);
  const { AgentSessionEventTypes: types } = voice;
  session.on(types.UserInputTranscribed, ({ transcript }) => tell(`user: ${transcript}`));
  session.on(types.AgentFalseInterruption, ({ resumed }) => tell(resumed ? "resumed" : "not resumed"));
  session.on(types.Error, ({ error }) => tell(`error: ${JSON.stringify(error)}`));
  session.on(types.Close, ({ reason }) => tell(`closed: ${reason}`));
  session.on(types.AgentStateChanged, ({ newState }) => tell(`bot: ${newState}`));
  session.on(types.ConversationItemAdded, ({ item }) => {
    if (item.type !== "message") return;
    record.history.push({ role: item.role, text: item.textContent ?? "", interrupted: item.interrupted });
  });
  await using running = await startAgentSession({
    session,
    agent: new voice.Agent({
      instructions: "You tell stories.",
      tools: [
        llm.tool({
          name: "hangUp",
          description: "Ends the call",
          execute: () => {
            session.shutdown({ drain: true });
            return Promise.resolve("done");
          },
        }),
      ],
    }),
    transport,
  });
  session.output.audio?.on(
    voice.AudioOutput.EVENT_PLAYBACK_FINISHED,
    (event: voice.PlaybackFinishedEvent) => {
      record.playbacks.push({ positionMs: event.playbackPosition * 1000, interrupted: event.interrupted });
      tell(event.interrupted ? "cut" : "heard");
    },
  );
  await running.ended;
  tell(`ended: ${args.signal.aborted}`);
}

class BreakableLlm extends voice.testing.FakeLLM {
  override lookup(input: string): voice.testing.FakeLLMResponse | undefined {
    if (input === RIDDLE) throw new Error("That breaks me");
    return super.lookup(input);
  }
}

await main();
