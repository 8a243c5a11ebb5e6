import { FRAME_MS, samplesIn } from "@vocalhost/audio";
import { encodeFrame, newSessionId, parseFrame } from "@vocalhost/protocol";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { WebSocket, WebSocketServer } from "ws";
import type { ConversationOptions } from "../conversation/conversation-options.ts";
import type { LanguageModelRequest, SpeechToText, ToolCall } from "../conversation/services.ts";
import type { Log } from "../log.ts";
import { createWebSocketArguments, type RunnerArguments } from "../bot/runner-arguments.ts";
import { attachHooks } from "../transports/session-hooks.ts";
import type { Transport } from "../transports/transport.ts";
import { createHum, createScriptedModel, hearLoudness } from "./services.ts";

/** Services that need no vendor; spread them into the options of a conversation. */
export type StandIns = Required<Pick<ConversationOptions, "stt" | "llm" | "tts">> & {
  turn: Pick<Required<ConversationOptions>["turn"], "voiceActivity">;
};

export interface TalkOptions {
  /** Returns the model's answer: text, or tool calls. @default "All right." */
  answer?(request: LanguageModelRequest): string | (string | ToolCall)[];
  /** Value of `args.body`. @default {} */
  body?: Record<string, unknown>;
}

/** A call with a bot in this process, over a real WebSocket. The test decides what the caller says. */
export interface Talk extends AsyncDisposable {
  /** Says this and resolves when it has been said. It interrupts the bot's speech. */
  say(text: string): Promise<void>;
  /**
   * Waits until the bot has said matching text since the caller last spoke, and has finished. Fails after
   * `timeoutMs`, 10 s by default.
   */
  hears(text: string | RegExp, timeoutMs?: number): Promise<string>;
  /** Everything the bot has said, oldest first. */
  readonly said: readonly string[];
  /** All requests to the model. */
  readonly requests: readonly LanguageModelRequest[];
  hangUp(): void;
  /** Resolves when the bot has returned; rejects with its error. */
  readonly over: Promise<void>;
}

const RATE_HZ = 16_000;
const MS_PER_CHARACTER = 30; // quicker than people, slow enough to be interrupted
const SPOKEN_MIN_MS = 300;
const HEARS_TIMEOUT_MS = 10_000;
const LOOK_MS = 20;
const silentLog: Log = {
  trace() {},
  debug() {},
  info() {},
  warn() {},
  error() {},
  child: () => silentLog,
};

/** Calls a bot that takes its services as an argument. */
export async function talk(
  bot: (args: RunnerArguments, services: StandIns) => Promise<void>,
  options: TalkOptions = {},
): Promise<Talk> {
  await using stack = new AsyncDisposableStack();
  const line = stack.use(await openLine());
  const session = new AbortController();
  const spoken: string[] = []; // the caller's text, until the transcriber was asked for it
  const model = createScriptedModel(options.answer ?? (() => "All right."));
  const transports: Transport[] = [];
  const args = createWebSocketArguments({
    sessionId: newSessionId(),
    body: options.body ?? {},
    cliArgs: undefined,
    callData: null,
    signal: session.signal,
    websocket: line.bot,
    transportType: "websocket",
  });
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => undefined);
  attachHooks(args, {
    log: silentLog,
    transportCreated: (transport) => void transports.push(transport),
    connected: () => undefined,
    failed: failed.reject,
    ended: () => session.abort(new Error("The caller hung up")),
  });
  line.bot.once("close", () => session.abort(new Error("The caller hung up")));
  const stt: SpeechToText = {
    name: "stand-in",
    open: () => ({ write: () => undefined, flush: async () => spoken.splice(0).join(" ") }),
  };
  const ear = listenTo(line.caller);
  const mouth = stack.use(speakInto(line.caller));
  const services = { stt, llm: model, tts: createHum(), turn: { voiceActivity: hearLoudness(RATE_HZ) } };
  const returned = (async () => bot(args, services))();
  const over = (async () => {
    try {
      await Promise.race([returned, failed.promise]);
    } finally {
      for (const transport of transports) await transport.close();
      line.caller.close();
    }
  })();
  over.catch(() => undefined);
  stack.defer(async () => {
    line.caller.close();
    session.abort(new Error("The test is over"));
    await over.catch(() => undefined);
  });
  const owned = stack.move();
  let since = 0;
  return {
    said: ear.said,
    requests: model.requests,
    over,
    async say(text) {
      since = ear.said.length;
      await mouth.speak(Math.max(SPOKEN_MIN_MS, text.length * MS_PER_CHARACTER), () => spoken.push(text));
    },
    hears(text, timeoutMs = HEARS_TIMEOUT_MS) {
      return waitForText(text, { ear, since, over, timeoutMs });
    },
    hangUp: () => line.caller.close(),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

async function waitForText(
  text: string | RegExp,
  { ear, since, over, timeoutMs }: { ear: Ear; since: number; over: Promise<void>; timeoutMs: number },
): Promise<string> {
  const isIt = (all: string): boolean => (typeof text === "string" ? all.includes(text) : text.test(all));
  for (const untilMs = performance.now() + timeoutMs; ;) {
    const all = ear.said.slice(since).join(" ");
    if (isIt(all) && !ear.isSpeaking()) return all;
    if (performance.now() > untilMs)
      throw new Error(`The bot did not say ${String(text)} in ${timeoutMs} ms, but: ${all || "nothing"}`);
    await Promise.race([over, new Promise((resolve) => setTimeout(resolve, LOOK_MS))]);
  }
}

/** Opens both ends of a WebSocket. */
async function openLine(): Promise<AsyncDisposable & { bot: WebSocket; caller: WebSocket }> {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1", perMessageDeflate: false });
  await once(server, "listening");
  const caller = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const [[bot]] = (await Promise.all([once(server, "connection"), once(caller, "open")])) as [
    [WebSocket],
    unknown,
  ];
  return {
    bot,
    caller,
    async [Symbol.asyncDispose]() {
      caller.terminate();
      bot.terminate();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface Ear {
  readonly said: readonly string[];
  isSpeaking(): boolean;
}

function listenTo(socket: WebSocket): Ear {
  const said: string[] = [];
  let isSpeaking = false;
  socket.on("message", (data: Buffer) => {
    const frame = parseFrame(data);
    if (frame.kind !== "message") return;
    const { type, data: content } = JSON.parse(frame.data) as { type: string; data?: { text?: string } };
    if (type === "bot-tts-started") isSpeaking = true;
    if (type === "bot-tts-stopped") isSpeaking = false;
    if (type === "bot-tts-text" && content?.text) said.push(content.text);
  });
  return { said, isSpeaking: () => isSpeaking };
}

/** A microphone that sends frames all the time: a tone is speech, the rest silence. */
function speakInto(socket: WebSocket): Disposable & { speak(ms: number, said: () => void): Promise<void> } {
  const perFrame = samplesIn(FRAME_MS, RATE_HZ);
  const tone = Int16Array.from({ length: perFrame }, (_, at) => Math.round(8_000 * Math.sin(at * 0.3)));
  const silence = new Int16Array(perFrame);
  const waiting: { frames: number; said(): void }[] = [];
  let dueMs = performance.now();
  const timer = setInterval(() => {
    for (; dueMs <= performance.now(); dueMs += FRAME_MS) {
      const [saying] = waiting;
      if (socket.readyState !== socket.OPEN) return;
      const audio = new Uint8Array((saying ? tone : silence).buffer);
      socket.send(
        encodeFrame({ kind: "audio", id: 0, name: "audio", audio, sampleRateHz: RATE_HZ, channels: 1 }),
      );
      if (saying && (saying.frames -= 1) <= 0) waiting.shift()?.said();
    }
  }, FRAME_MS);
  return {
    speak(ms, said) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const done = (): void => {
        said();
        resolve();
      };
      waiting.push({ frames: Math.ceil(ms / FRAME_MS), said: done });
      return promise;
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}
