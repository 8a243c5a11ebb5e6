// Twilio calls to a bot that talks all the time, and a note of how late each of its chunks comes.
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { WebSocket } from "ws";
import { percentile } from "./report/statistics.ts";

export interface CallsCommand {
  /** Calls to open; without them the answer tells what was seen since the last command. */
  open?: number;
}

export interface CallsAnswer {
  calls: number;
  /** Against the even pace that a call keeps but for its most punctual chunks; the pace begins anew after a gap. */
  chunkLateMs: number[];
  /** How late the load itself was; what goes beyond a few is not the bot's doing. */
  ownLateMs: number[];
}

const CHUNK_MS = 40;
const LEAD_MS = 120; // what a carrier has queued to bridge lateness
const PACKET_MS = 20;
const OPENING_AT_ONCE = 4;
const EARLY_SHARE = 0.05;

// The words do not matter, so every call repeats the same second.
const PACKETS = Array.from({ length: 50 }, (_, at) => {
  const media = { track: "inbound", chunk: String(at + 1), timestamp: String(at * PACKET_MS) };
  return JSON.stringify({
    event: "media",
    sequenceNumber: String(at + 2),
    streamSid: "MZ1",
    media: { ...media, payload: randomBytes(160).toString("base64") },
  });
});

interface Caller {
  /** Sends the next 20 ms. */
  speak(): void;
  speakDueMs: number;
  /** When its chunks came, since the last answer. */
  heardMs: number[];
}

const url = process.argv[2] ?? "";
const callers: Caller[] = [];
let ownLateMs: number[] = [];

async function openCall(): Promise<void> {
  const socket = new WebSocket(`${url.replace("http", "ws")}/ws`, { perMessageDeflate: false });
  await once(socket, "open");
  const callSid = `CA${randomBytes(16).toString("hex")}`;
  socket.send(JSON.stringify({ event: "connected", protocol: "Call", version: "1.0.0" }));
  socket.send(JSON.stringify({ event: "start", start: { streamSid: "MZ1", callSid, accountSid: "AC1" } }));
  let at = 0;
  const caller: Caller = {
    speak() {
      socket.send(PACKETS[at]!);
      at = (at + 1) % PACKETS.length;
    },
    speakDueMs: performance.now() + Math.random() * PACKET_MS,
    heardMs: [],
  };
  socket.on("message", (data: Buffer) => {
    if (data.includes('"mark"')) socket.send(data.toString());
    else caller.heardMs.push(performance.now());
  });
  callers.push(caller);
}

/** A chunk that fills up a queue which had run low comes early, and is no reason to call the next one late. */
function lateness(heardMs: number[]): number[] {
  const late: number[] = [];
  let shifts: number[] = []; // of the chunks of one pace, against one that begins at zero
  const endPace = (): void => {
    const punctualMs = percentile(shifts, EARLY_SHARE);
    for (const shiftMs of shifts) late.push(Math.max(0, shiftMs - punctualMs));
    shifts = [];
  };
  for (const atMs of heardMs) {
    const gapMs = atMs - CHUNK_MS * shifts.length - (shifts.at(-1) ?? Infinity);
    if (gapMs > LEAD_MS) {
      endPace(); // playing starts anew
      late.push(gapMs);
    } else {
      shifts.push(atMs - CHUNK_MS * shifts.length);
    }
  }
  endPace();
  return late;
}

// One timer for all calls: a timer each would cost more than the sending.
function turn(): void {
  setTimeout(turn, 1);
  const nowMs = performance.now();
  for (const caller of callers) {
    if (caller.speakDueMs > nowMs) continue;
    caller.speak();
    ownLateMs.push(nowMs - caller.speakDueMs);
    caller.speakDueMs += PACKET_MS;
    if (nowMs - caller.speakDueMs > 10 * PACKET_MS) caller.speakDueMs = nowMs; // do not catch up in a burst
  }
}

async function execute({ open = 0 }: CallsCommand): Promise<CallsAnswer> {
  for (let left = open; left > 0; left -= OPENING_AT_ONCE)
    await Promise.all(Array.from({ length: Math.min(left, OPENING_AT_ONCE) }, openCall));
  const chunkLateMs = callers.flatMap(({ heardMs }) => lateness(heardMs.splice(0)));
  const answer = { calls: callers.length, chunkLateMs, ownLateMs };
  ownLateMs = [];
  return answer;
}

process.on("message", (command: CallsCommand) => {
  execute(command).then(
    (answer) => process.send?.(answer),
    (error: Error) => process.send?.({ error: error.stack ?? error.message }),
  );
});
turn();
