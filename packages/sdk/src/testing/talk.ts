import { FRAME_MS, samplesIn } from "@vocalhost/audio";
import { encodeFrame, parseFrame } from "@vocalhost/protocol";
import {
  createHum,
  createPhrases,
  createScriptedModel,
  hearLoudness,
  type Hum,
  type Phrases,
  type ScriptedModel,
} from "../../../../testing/voice-stand-ins.ts";
import { until, within } from "../../../../testing/wait.ts";
import type { Conversation, ConversationOptions } from "../conversation/conversation-options.ts";
import { createConversation } from "../conversation/conversation.ts";
import type { TurnFigures } from "../conversation/figures.ts";
import { createWebSocketArguments } from "../bot/runner-arguments.ts";
import { attachHooks } from "../transports/session-hooks.ts";
import { createTransport } from "../transports/create-transport.ts";
import type { Transport } from "../transports/transport.ts";
import { createCollectedLog } from "./collected-log.ts";
import { openSocketPair } from "./socket-pair.ts";

/** A conversation over a WebSocket, with a user whose line sends frames all the time. */
export interface Talk extends AsyncDisposable {
  readonly conversation: Conversation;
  /** Says a phrase; resolves when its last sound was sent. */
  say(text: string, options?: { ms?: number }): Promise<void>;
  /** RTVI messages, oldest first. */
  readonly messages: { type: string; data: unknown }[];
  told(type: string): { type: string; data: unknown } | undefined;
  /** `user: …`, `bot: …`, `bot (cut): …`, `false: …`, `error: …`, in the order they happened. */
  readonly events: string[];
  readonly figures: TurnFigures[];
  readonly model: ScriptedModel;
  readonly hum: Hum;
  send(type: string, data: unknown): void;
  /** Waits until an event has happened as often as the pattern requires. */
  happened(event: RegExp, quietMs?: number): Promise<string>;
  hears(ms: number): Promise<void>;
  readonly heardMs: number;
  /** Arrival times of loud sound, by `performance.now()`. */
  readonly heardAtMs: readonly number[];
  readonly over: Promise<void>;
}

export interface TalkOptions {
  phrases: readonly string[];
  answer: Parameters<typeof createScriptedModel>[0];
  options?: Partial<ConversationOptions>;
  hum?: Parameters<typeof createHum>[0];
  model?: Parameters<typeof createScriptedModel>[1];
  stt?: Parameters<Phrases["stt"]>[0];
  /** Creates another conversation than the one with the stand-ins. */
  create?(transport: Transport): Conversation;
}

const RATE_HZ = 16_000;

export async function openTalk(talk: TalkOptions): Promise<Talk> {
  await using stack = new AsyncDisposableStack();
  const pair = stack.use(await openSocketPair());
  const session = new AbortController();
  const { log } = createCollectedLog();
  const args = createWebSocketArguments({
    sessionId: "ses",
    body: {},
    cliArgs: undefined,
    callData: null,
    signal: session.signal,
    websocket: pair.server,
    transportType: "websocket",
  });
  attachHooks(args, {
    log,
    transportCreated: () => undefined,
    connected: () => undefined,
    failed: (error) => void events.push(`failed: ${String(error)}`),
    ended: () => session.abort(new Error("left")),
  });
  const transport = await createTransport(args);
  const messages: Talk["messages"] = [];
  let heardMs = 0;
  const heardAtMs: number[] = [];
  pair.client.on("message", (data: Buffer) => {
    const frame = parseFrame(data);
    if (frame.kind === "message") messages.push(JSON.parse(frame.data) as Talk["messages"][number]);
    if (frame.kind !== "audio") return;
    heardMs += (frame.audio.length / 2 / frame.sampleRateHz) * 1000;
    const samples = new Int16Array(Uint8Array.from(frame.audio).buffer);
    if (samples.some((sample) => Math.abs(sample) > 500)) heardAtMs.push(performance.now());
  });
  const phrases = createPhrases(talk.phrases);
  const model = createScriptedModel(talk.answer, talk.model);
  const hum = createHum(talk.hum);
  const conversation =
    talk.create?.(transport) ??
    createConversation(transport, {
      stt: phrases.stt(talk.stt),
      llm: model,
      tts: hum,
      ...talk.options,
      turn: { voiceActivity: hearLoudness(), ...talk.options?.turn },
    });
  const events: string[] = [];
  const figures: TurnFigures[] = [];
  conversation.on("user-said", ({ text }) => void events.push(`user: ${text}`));
  conversation.on(
    "bot-said",
    ({ text, interrupted }) => void events.push(`bot${interrupted ? " (cut)" : ""}: ${text}`),
  );
  conversation.on("false-interruption", ({ text }) => void events.push(`false: ${text}`));
  conversation.on("error", (error) => void events.push(`error: ${error.message}`));
  conversation.on("turn", (turn) => void figures.push(turn));

  const waiting: { samples: Int16Array; said(): void }[] = [];
  let at = 0;
  const perFrame = samplesIn(FRAME_MS, RATE_HZ);
  let dueMs = performance.now();
  const line = setInterval(() => {
    for (; dueMs <= performance.now(); dueMs += FRAME_MS) {
      const frame = new Int16Array(perFrame);
      const [saying] = waiting;
      if (saying) frame.set(saying.samples.subarray(at, at + perFrame));
      at += perFrame;
      if (saying && at >= saying.samples.length) {
        waiting.shift();
        at = 0;
        saying.said();
      }
      if (!saying) at = 0;
      const audio = new Uint8Array(frame.buffer);
      if (pair.client.readyState === pair.client.OPEN)
        pair.client.send(
          encodeFrame({ kind: "audio", id: 0, name: "audio", audio, sampleRateHz: RATE_HZ, channels: 1 }),
        );
    }
  }, FRAME_MS);
  const over = conversation.run();
  stack.defer(async () => {
    clearInterval(line);
    session.abort(new Error("The test is over"));
    await within(over, 5_000, "end of the conversation");
    await transport.close();
  });
  const owned = stack.move();
  return {
    conversation,
    messages,
    events,
    figures,
    model,
    hum,
    over,
    heardAtMs,
    get heardMs() {
      return heardMs;
    },
    told: (type) => messages.find((message) => message.type === type),
    say(text, options) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const { samples } = phrases.say(text, { sampleRateHz: RATE_HZ, ...options });
      waiting.push({ samples, said: resolve });
      return promise;
    },
    send: (type, data) =>
      pair.client.send(
        encodeFrame({
          kind: "message",
          data: JSON.stringify({ id: "1", label: "rtvi-ai", type, data }),
        }),
      ),
    happened: (event, quietMs = 8_000) =>
      until(() => events.find((one) => event.test(one)), quietMs, `${event} among ${events.join(" | ")}`),
    hears: async (ms) => void (await until(() => heardMs >= ms, 8_000, `${ms} ms of the bot's voice`)),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
