// Does what its start body and its client ask for, and tells what it has heard: the far end of conformance tests.
import {
  createTransport,
  type AudioFrame,
  type BotCapabilities,
  type ClientRequest,
  type RunnerArguments,
  type Transport,
} from "vocalhost";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";

/** The behaviour of the bot; it listens and answers requests in every mode but the last, in which it never comes. */
export type Mode =
  | "quiet"
  | "echo"
  | "tone"
  | "eager-tone"
  | "monologue"
  | "goodbye"
  | "slow-start"
  | "absent";

export interface StartBody {
  mode: Mode;
  /** Names the conversation, so that calls of the bot can be counted. */
  conversation: string;
}

/** Everything the bot knows about its conversation. */
export interface Report {
  /** Made anew by every call of the bot. */
  run: string;
  /** How often the bot was called for this conversation. */
  calls: number;
  sessionId: string;
  kind: RunnerArguments["kind"];
  body: unknown;
  heard: { level: number; frequencyHz: number; purity: number; frames: number };
  /** Clients that have said they are ready. */
  greetings: number;
  notes: unknown[];
  texts: { content: string; runImmediately: boolean; audioResponse: boolean }[];
  keys: string;
  functionResults: unknown[];
  uiEvents: unknown[];
}

export const BOT_TONE_HZ = 1_000;
/** The last note of the farewell, which differs from the rest of it. */
export const LAST_NOTE_HZ = 1_600;

export const CAPABILITIES: BotCapabilities = {
  files: { formats: ["image/png"], sources: ["bytes"], maxSize: 1_000_000 },
};

const GOODBYE: Note[] = [
  { frequencyHz: BOT_TONE_HZ, durationMs: 400 },
  { frequencyHz: LAST_NOTE_HZ, durationMs: 100 },
];
const ENDLESS: Note[] = [{ frequencyHz: BOT_TONE_HZ, durationMs: Number.POSITIVE_INFINITY }];
const MONOLOGUE: Note = { frequencyHz: BOT_TONE_HZ, durationMs: 20_000 };
const SLOW_START_MS = 1_500;
const CHAT_MS = 250;

const callsOf = new Map<string, number>();

export async function bot(args: RunnerArguments): Promise<void> {
  const body = (args.body ?? {}) as Partial<StartBody>;
  const conversation = body.conversation ?? "unnamed";
  callsOf.set(conversation, (callsOf.get(conversation) ?? 0) + 1);
  if (body.mode === "slow-start") await pause(SLOW_START_MS);
  if (body.mode === "absent") return void (await once(args.signal, "abort"));
  const transport = await createTransport(args, { rtvi: { capabilities: CAPABILITIES } });
  const ear = createEar();
  const voice = createVoice(transport);
  const report: Report = {
    run: randomUUID(),
    calls: 0,
    sessionId: args.sessionId,
    kind: args.kind,
    body: args.body,
    heard: ear.hear(),
    greetings: 0,
    notes: [],
    texts: [],
    keys: "",
    functionResults: [],
    uiEvents: [],
  };
  const greeted = Promise.withResolvers<void>();
  const { rtvi } = transport;
  rtvi.on("client-ready", () => {
    report.greetings += 1;
    greeted.resolve();
  });
  rtvi.on("send-text", (text) => void report.texts.push(text));
  rtvi.on("dtmf", (keys) => void (report.keys += keys.join("")));
  rtvi.on("function-call-result", (result) => void report.functionResults.push(result));
  rtvi.on("ui-event", (event) => void report.uiEvents.push(event));
  rtvi.on("client-message", (message) => {
    const now = { ...report, calls: callsOf.get(conversation) ?? 0, heard: ear.hear() };
    answer(message, { transport, voice, report: now, note: (note) => void report.notes.push(note) });
  });

  const listening = listen(transport, (frame) => {
    ear.listen(frame);
    if (body.mode === "echo") transport.audioOut.write(frame);
  });
  if (body.mode === "eager-tone") void voice.sing(ENDLESS);
  if (body.mode === "tone") void greeted.promise.then(() => voice.sing(ENDLESS));
  if (body.mode === "monologue") void greeted.promise.then(() => voice.singAhead(MONOLOGUE));
  if (body.mode !== "goodbye") return listening;
  return Promise.race([greeted.promise.then(() => voice.sing(GOODBYE)), listening]);
}

interface Conversation {
  transport: Transport;
  voice: Voice;
  report: Report;
  note(note: unknown): void;
}

function answer(message: ClientRequest, { transport, voice, report, note }: Conversation): void {
  switch (message.type) {
    case "report":
      return message.respond(report);
    case "note":
      return note(message.data);
    case "repeat":
      return message.respond(message.data);
    case "refuse":
      return message.refuse("The bot refuses");
    case "count":
      for (let at = 1; at <= Number(message.data); at += 1) transport.rtvi.serverMessage({ count: at });
      return undefined;
    case "chat":
      return chat(transport);
    case "perform":
      return perform(transport);
    case "stop":
      voice.stop();
      return message.respond();
    case "renegotiate":
      return transport.messages.send({ type: "signalling", message: { type: "renegotiate" } });
    default:
      return message.refuse(`The bot does not know "${message.type}"`);
  }
}

/** Sends messages until the session ends. */
function chat({ rtvi, signal }: Transport): void {
  const timer = setInterval(() => rtvi.serverMessage({ chatMs: Math.round(performance.now()) }), CHAT_MS);
  signal.addEventListener("abort", () => clearInterval(timer), { once: true });
}

/** One turn of a conversation, without its sound. */
function perform({ rtvi }: Transport): void {
  rtvi.userStartedSpeaking();
  rtvi.userTranscription({ text: "what is", final: false });
  rtvi.userTranscription({ text: "what is the time", final: true, userId: "guest" });
  rtvi.userStoppedSpeaking();
  rtvi.send("bot-llm-started", undefined);
  rtvi.send("bot-llm-text", { text: "It is noon." });
  rtvi.send("bot-llm-stopped", undefined);
  const sentence = rtvi.botOutput("It is noon.");
  sentence.spokenUpTo(5);
  sentence.completed();
  rtvi.botOutput("12:00", { spoken: false, aggregatedBy: "code" });
  rtvi.metrics({
    ttfb: [{ processor: "clock", value: 0.25 }],
    ttfat: [{ processor: "voice", value: 0.5 }],
    tokens: [{ prompt_tokens: 3, completion_tokens: 4, total_tokens: 7, reasoning_tokens: 1 }],
    stt_usage: [{ processor: "ear", value: 1.5 }],
  });
  newerThanClients(rtvi);
  rtvi.send("llm-function-call-in-progress", {
    tool_call_id: "call-1",
    function_name: "time_zone",
    arguments: { city: "Paris" },
  });
  rtvi.error("The clock is slow");
  rtvi.serverMessage({ performed: true });
}

/** Unknown messages must not disturb released clients. */
function newerThanClients(rtvi: Transport["rtvi"]): void {
  rtvi.vadUserStartedSpeaking();
  rtvi.vadUserStoppedSpeaking();
  rtvi.botTtsAudio({ samples: new Int16Array(20_000), sampleRateHz: 24_000 });
  rtvi.send("user-audio-level", { value: 0.5 });
  rtvi.send("bot-audio-level", { value: 0.25 });
  rtvi.send("system-log", { text: "tick" });
}

interface Note {
  frequencyHz: number;
  durationMs: number;
}

interface Voice {
  /** Resolves when all of it is queued. */
  sing(notes: Note[]): Promise<void>;
  /** Queues all of it at once. */
  singAhead(note: Note): void;
  /** Falls silent at once. */
  stop(): void;
}

const PHRASE_MS = 100; // whole periods, so phrases join without a click

function createVoice({ audioOut, signal }: Transport): Voice {
  const { sampleRateHz } = audioOut;
  let stopped = false;

  async function singNote({ frequencyHz, durationMs }: Note): Promise<void> {
    const samples = toneOf({ frequencyHz, durationMs: PHRASE_MS }, sampleRateHz);
    for (let sungMs = 0; sungMs < durationMs && !stopped && !signal.aborted; sungMs += PHRASE_MS) {
      if (!audioOut.write({ samples, sampleRateHz })) await audioOut.ready();
    }
  }

  return {
    async sing(notes) {
      for (const note of notes) await singNote(note);
    },
    singAhead: (note) => void audioOut.write({ samples: toneOf(note, sampleRateHz), sampleRateHz }),
    stop() {
      stopped = true;
      audioOut.clear();
    },
  };
}

function toneOf({ frequencyHz, durationMs }: Note, sampleRateHz: number): Int16Array {
  return Int16Array.from({ length: (durationMs * sampleRateHz) / 1000 }, (_, at) =>
    Math.round(12_000 * Math.sin((2 * Math.PI * frequencyHz * at) / sampleRateHz)),
  );
}

async function listen(transport: Transport, onFrame: (frame: AudioFrame) => void): Promise<void> {
  for await (const frame of transport.audioIn) onFrame(frame);
}

interface Ear {
  listen(frame: AudioFrame): void;
  /** The loudest tone of the last moments; silence when nothing arrives. */
  hear(): Report["heard"];
}

const MEMORY_FRAMES = 10;
const STALE_MS = 250;

function createEar(): Ear {
  const memory: AudioFrame[] = [];
  let frames = 0;
  let lastMs = Number.NEGATIVE_INFINITY;
  return {
    listen(frame) {
      frames += 1;
      lastMs = performance.now();
      memory.push(frame);
      if (memory.length > MEMORY_FRAMES) memory.shift();
    },
    hear() {
      const isStale = performance.now() - lastMs > STALE_MS;
      return { frames, ...measureTone(isStale ? [] : memory) };
    },
  };
}

function measureTone(frames: AudioFrame[]): { level: number; frequencyHz: number; purity: number } {
  const samples = frames.flatMap((frame) => [...frame.samples]);
  const energy = samples.reduce((sum, sample) => sum + sample * sample, 0);
  if (energy === 0) return { level: 0, frequencyHz: 0, purity: 0 };
  const sampleRateHz = frames[0]?.sampleRateHz ?? 0;
  let best = { frequencyHz: 0, power: 0 };
  for (let frequencyHz = 100; frequencyHz <= 4_000; frequencyHz += 10) {
    const power = goertzel(samples, (2 * Math.PI * frequencyHz) / sampleRateHz);
    if (power > best.power) best = { frequencyHz, power };
  }
  return {
    level: Math.sqrt(energy / samples.length) / 32_768,
    frequencyHz: best.frequencyHz,
    purity: (2 * best.power) / (samples.length * energy),
  };
}

/** Power of one frequency, given in radians per sample. */
function goertzel(samples: number[], step: number): number {
  const factor = 2 * Math.cos(step);
  let last = 0;
  let beforeLast = 0;
  for (const sample of samples) [last, beforeLast] = [sample + factor * last - beforeLast, last];
  return last * last + beforeLast * beforeLast - factor * last * beforeLast;
}

if (import.meta.main) await (await import("vocalhost/runner")).main();
