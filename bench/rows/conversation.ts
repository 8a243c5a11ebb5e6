import { encodeFrame, parseFrame } from "@vocalhost/protocol";
import { once } from "node:events";
import { WebSocket } from "ws";
import { createPhrases } from "../../testing/voice-stand-ins.ts";
import { PHRASES, SILENCE_MS } from "../bots/answers.ts";
import { pause } from "../machine/child.ts";
import { startRunner } from "../machine/runner.ts";
import type { Benchmark } from "../report/row.ts";
import { figure, percentile } from "../report/statistics.ts";

const TURNS = 60;
const TARGET_MS = 60;
const RATE_HZ = 16_000;
const FRAME_MS = 20;
const ANSWER_MS = 400;

export const conversation: Benchmark = {
  name: "conversation",
  about: "our own share of the time between a user's last word and the bot's first",
  async run() {
    await using runner = await startRunner({ bot: "bench/bots/answers.ts" });
    const shareMs = await talk(runner.url);
    const p95Ms = percentile(shareMs, 0.95);
    return [
      {
        what: `conversation: last word in → first sound out, less the silence waited for, p50 / p95 of ${TURNS}`,
        target: `p95 ≤ ${TARGET_MS} ms`,
        measured: `${figure(percentile(shareMs, 0.5))} / ${figure(p95Ms)} ms`,
        met: p95Ms <= TARGET_MS,
        note: "over WebSocket, services that take no time, speech told by loudness in windows of 20 ms",
      },
    ];
  },
};

/** Speaks, listens, and speaks again when the bot has finished. */
async function talk(url: string): Promise<number[]> {
  const socket = new WebSocket(`${url.replace("http", "ws")}/ws-client`, { perMessageDeflate: false });
  await once(socket, "open");
  const { samples } = createPhrases(PHRASES).say(PHRASES[0]!, { sampleRateHz: RATE_HZ, ms: 600 });
  const shareMs: number[] = [];
  let at = 0;
  let lastWordMs: number | undefined;
  let heard = Promise.withResolvers<void>();
  socket.on("message", (data: Buffer) => {
    if (parseFrame(data).kind !== "audio" || lastWordMs === undefined) return;
    shareMs.push(performance.now() - lastWordMs - SILENCE_MS);
    lastWordMs = undefined;
    heard.resolve();
  });
  let isSpeaking = false;
  let dueMs = performance.now();
  const perFrame = (RATE_HZ * FRAME_MS) / 1000;
  const line = setInterval(() => {
    for (; dueMs <= performance.now(); dueMs += FRAME_MS) {
      const frame = new Int16Array(perFrame);
      if (isSpeaking) frame.set(samples.subarray(at, (at += perFrame)));
      if (isSpeaking && at >= samples.length) {
        isSpeaking = false;
        lastWordMs = performance.now();
      }
      const audio = new Uint8Array(frame.buffer);
      socket.send(
        encodeFrame({ kind: "audio", id: 0, name: "audio", audio, sampleRateHz: RATE_HZ, channels: 1 }),
      );
    }
  }, 1);
  for (let turn = 0; turn < TURNS; turn += 1) {
    heard = Promise.withResolvers();
    at = 0;
    isSpeaking = true;
    await heard.promise;
    await pause(ANSWER_MS + 300);
  }
  clearInterval(line);
  socket.close();
  return shareMs;
}
