// Takes phone calls, does what the call's parameter `mode` asks for and remembers everything. `GET /calls` tells.
import { createTransport, type CallData, type RunnerArguments, type Transport } from "vocalhost";
import { app, main } from "vocalhost/runner";
import { mountRunnerFigures } from "../bots/figures.ts";

export type Mode = "echo" | "goodbye" | "keys" | "leave" | "menu" | "silent" | "transfer";

/** One call of the bot. Times are `performance.now()` of its process. */
export interface CallRecord {
  sessionId: string;
  transportType: unknown;
  body: unknown;
  callData: CallData | null;
  startedMs: number;
  keys: string;
  /** Frames heard, and those the bot was too slow for. */
  heardFrames: number;
  droppedFrames: number;
  /** When everything the bot said had been heard, as far as the transport knows. */
  drainedMs: number | null;
  /** Why the session was ended, and when; null while it runs. */
  ended: unknown;
  endedMs: number | null;
}

export const GOODBYE_MS = 600;
export const TRANSFER_TO = "+12025550177";
const RATE_HZ = 24_000;

const calls: CallRecord[] = [];
app.get("/calls", async () => calls);
await mountRunnerFigures();

export async function bot(args: RunnerArguments): Promise<void> {
  const record: CallRecord = {
    sessionId: args.sessionId,
    transportType: args.kind === "websocket" ? args.transportType : null,
    body: args.body,
    callData: args.callData,
    startedMs: performance.now(),
    keys: "",
    heardFrames: 0,
    droppedFrames: 0,
    drainedMs: null,
    ended: null,
    endedMs: null,
  };
  calls.push(record);
  args.signal.addEventListener("abort", () => {
    record.ended = args.signal.reason.reason;
    record.endedMs = performance.now();
  });
  const mode = modeOf(args);
  const transport = await createTransport(args, { call: { hangUpOnReturn: mode !== "leave" } });
  await behave(transport, record, mode);
}

function behave(transport: Transport, record: CallRecord, mode: Mode): Promise<void> {
  switch (mode) {
    case "echo":
      return listen(transport, record, true);
    case "silent":
      return listen(transport, record, false);
    case "goodbye":
      return sayGoodbye(transport, record);
    case "keys":
      return answerKeys(transport, record);
    case "leave":
      return sayGoodbye(transport, record);
    case "menu":
      return menu(transport, record);
    case "transfer":
      return transfer(transport, record);
    default:
      return mode satisfies never;
  }
}

async function listen(transport: Transport, record: CallRecord, echoes: boolean): Promise<void> {
  for await (const frame of transport.audioIn) {
    record.heardFrames += 1;
    record.droppedFrames = transport.audioIn.droppedFrames;
    if (echoes) transport.audioOut.write(frame);
  }
}

async function sayGoodbye({ audioOut }: Transport, record: CallRecord): Promise<void> {
  audioOut.write({ samples: tone(440, GOODBYE_MS), sampleRateHz: RATE_HZ });
  await audioOut.drained();
  record.drainedMs = performance.now();
}

/** Two keys, then the bot presses a third itself and is done. */
async function menu({ dtmf, call }: Transport, record: CallRecord): Promise<void> {
  const { keys, end } = await dtmf.collect({ digits: 2, timeoutMs: 10_000 });
  record.keys = `${keys} ${end}`;
  await call?.sendDtmf("5");
}

async function transfer(transport: Transport, record: CallRecord): Promise<void> {
  await sayGoodbye(transport, record);
  await transport.call?.transfer(TRANSFER_TO);
}

/** Every key is answered by a tone of its own: 300 Hz and 100 Hz more for each step. */
async function answerKeys({ audioOut, dtmf }: Transport, record: CallRecord): Promise<void> {
  for await (const key of dtmf) {
    record.keys += key;
    audioOut.write({ samples: tone(300 + 100 * Number(key), 200), sampleRateHz: RATE_HZ });
  }
}

function modeOf({ body, callData }: RunnerArguments): Mode {
  const started = (body as { mode?: unknown }).mode;
  const mode = started ?? callData?.body["mode"] ?? callData?.customParameters?.["mode"];
  return MODES.find((name) => name === mode) ?? "echo";
}

const MODES = ["goodbye", "keys", "leave", "menu", "silent", "transfer"] as const satisfies Mode[];

function tone(frequencyHz: number, ms: number): Int16Array {
  const step = (2 * Math.PI * frequencyHz) / RATE_HZ;
  return Int16Array.from({ length: (RATE_HZ * ms) / 1000 }, (_, at) =>
    Math.round(12_000 * Math.sin(step * at)),
  );
}

if (import.meta.main) await main();
