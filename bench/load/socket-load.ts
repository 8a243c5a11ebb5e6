// Callers over a plain WebSocket: 16 kHz up, 24 kHz down.
import { encodeFrame } from "@vocalhost/protocol";
import { once } from "node:events";
import { WebSocket } from "ws";
import { readSettings, serveLoad, type Caller, type Counts } from "./callers.ts";
import { readCall } from "./speech.ts";

const SAMPLE_RATE_HZ = 16_000;
const FRAME_SAMPLES = 320;

const settings = readSettings();
const frames = encodeFrames(readCall({ sampleRateHz: SAMPLE_RATE_HZ, pauseMs: settings.pauseMs }));
serveLoad(open);

async function open(_index: number, counts: Counts): Promise<Caller> {
  const startMs = performance.now();
  const socket = new WebSocket(`${settings.url.replace("http", "ws")}/ws-client`, {
    perMessageDeflate: false,
  });
  await once(socket, "open");
  let lastMs: number | undefined;
  socket.on("message", () => {
    const nowMs = performance.now();
    if (lastMs !== undefined) counts.gapsMs.push(nowMs - lastMs);
    lastMs = nowMs;
    counts.received += 1;
  });
  let at = Math.floor(Math.random() * frames.length);
  return {
    connectMs: performance.now() - startMs,
    speak() {
      socket.send(frames[at]!);
      at = (at + 1) % frames.length;
    },
    close: () => socket.close(),
  };
}

function encodeFrames(call: Int16Array): Uint8Array[] {
  const messages: Uint8Array[] = [];
  for (let at = 0; at + FRAME_SAMPLES <= call.length; at += FRAME_SAMPLES) {
    const samples = call.slice(at, at + FRAME_SAMPLES);
    const audio = new Uint8Array(samples.buffer);
    messages.push(
      encodeFrame({ kind: "audio", id: 0, name: "audio", audio, sampleRateHz: SAMPLE_RATE_HZ, channels: 1 }),
    );
  }
  return messages;
}
