import { samplesIn } from "@vocalhost/audio";
import { parseFrame } from "@vocalhost/protocol";
import assert from "node:assert/strict";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { WebSocketServer, type WebSocket } from "ws";
import { pause, until } from "../../../../testing/wait.ts";
import { createWebSocketArguments } from "../bot/runner-arguments.ts";
import { detectCall } from "./detect.ts";
import { openEar, type EarMessage } from "../testing/ear.ts";
import { common, tellTo } from "../testing/far-ends.ts";
import { setStreamOf } from "./carrier-stream.ts";
import { keepEarlyMessages } from "./early-messages.ts";
import type { Transport } from "./transport.ts";

const RATE_HZ = 24_000;
const SPEECH_MS = 2_000;
const BLOCKED_MS = 400;
const TIMES = 3;
// A voice paced by the bot's thread has gaps of about 300 in every 400 ms.
const MISSING_MAX_MS = 200;

const kinds = [
  {
    name: "websocket",
    say: [],
    args: async (socket: WebSocket, signal: AbortSignal) =>
      createWebSocketArguments({
        ...common,
        callData: null,
        signal,
        websocket: socket,
        transportType: "websocket",
      }),
    lengthMs({ bytes }: EarMessage): number {
      const frame = parseFrame(bytes);
      return frame.kind === "audio" ? (frame.audio.length / 2 / frame.sampleRateHz) * 1000 : 0;
    },
  },
  {
    name: "twilio",
    say: [JSON.stringify({ event: "start", start: { streamSid: "MZ1", callSid: "CA1", accountSid: "AC1" } })],
    args: async (socket: WebSocket, signal: AbortSignal) => {
      const stream = await detectCall(keepEarlyMessages(socket).peek, new URLSearchParams(), undefined);
      setStreamOf(socket, stream);
      return createWebSocketArguments({
        ...common,
        callData: stream.callData,
        signal,
        websocket: socket,
        transportType: "twilio",
      });
    },
    lengthMs({ bytes }: EarMessage): number {
      const { media } = JSON.parse(Buffer.from(bytes).toString()) as { media?: { payload: string } };
      return media ? Buffer.from(media.payload, "base64").length / 8 : 0;
    },
  },
];

for (const { name, say, args, lengthMs } of kinds) {
  test(`${name}: a bot that keeps its thread busy makes no gaps`, async () => {
    await using stack = new AsyncDisposableStack();
    const listener = new WebSocketServer({ port: 0, host: "127.0.0.1", perMessageDeflate: false });
    stack.defer(() => listener.close());
    await once(listener, "listening");
    const connected = once(listener, "connection");
    const ear = stack.use(
      openEar({ url: `ws://127.0.0.1:${(listener.address() as AddressInfo).port}`, say }),
    );
    const [socket] = (await connected) as [WebSocket];
    const session = new AbortController();
    const given = await args(socket, session.signal);
    const { transport } = await tellTo(() => given, undefined);
    stack.defer(() => transport.close());

    await speak(transport);
    const pieces = (await ear.heard()).map((message) => ({ atMs: message.atMs, ms: lengthMs(message) }));
    const heardMs = pieces.reduce((sum, { ms }) => sum + ms, 0);
    assert.ok(heardMs >= SPEECH_MS, `${heardMs} ms of ${SPEECH_MS}`);
    const missing = missingMs(pieces.filter(({ ms }) => ms > 0));
    assert.ok(missing < MISSING_MAX_MS, `the voice was missing for ${missing} ms`);
  });
}

async function speak({ audioOut }: Transport): Promise<void> {
  let isOver = false;
  audioOut.write({ samples: new Int16Array(samplesIn(SPEECH_MS, RATE_HZ)).fill(500), sampleRateHz: RATE_HZ });
  void audioOut.drained().then(() => (isOver = true));
  await until(() => audioOut.playedMs > 0, 5_000, "first sound");
  for (let time = 0; time < TIMES; time += 1) {
    keepBusy(BLOCKED_MS);
    await pause(100);
  }
  await until(() => isOver, 10_000, "last sound");
}

function keepBusy(ms: number): void {
  for (const endMs = performance.now() + ms; performance.now() < endMs;);
}

/** Returns for how long a player without a buffer would have had nothing to play. */
function missingMs(pieces: { atMs: number; ms: number }[]): number {
  let missing = 0;
  let playsUntilMs = pieces[0]?.atMs ?? 0;
  for (const { atMs, ms } of pieces) {
    missing += Math.max(0, atMs - playsUntilMs);
    playsUntilMs = Math.max(atMs, playsUntilMs) + ms;
  }
  return Math.round(missing);
}
