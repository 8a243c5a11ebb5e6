import { FRAME_MS, samplesIn } from "@vocalhost/audio";
import { createCarrier, newCallIds, placeCall } from "@vocalhost/simulator";
import { WebSocket } from "ws";
import { createPhrases } from "../../../testing/voice-stand-ins.ts";
import { callBot } from "../../harness/peer-client.ts";
import { openSocket } from "../../harness/socket-client.ts";
import { FROM, TO } from "../../telephony/telephone.ts";
import { PHRASES } from "./script.ts";

/** A caller who talks with the bot over some kind of connection; the line is never without frames. */
export interface Caller extends AsyncDisposable {
  /** Resolves when the last sound of it was sent. */
  say(phrase: string): Promise<void>;
}

export type OpenCaller = (port: number) => Promise<Caller>;

const phrases = createPhrases(PHRASES);

/** The sentences as frames, with silence between them. */
function createMouth(sampleRateHz: number): {
  next(samples: number): Int16Array;
  say(phrase: string): Promise<void>;
} {
  const waiting: { samples: Int16Array; at: number; said(): void }[] = [];
  return {
    next(samples) {
      const frame = new Int16Array(samples);
      const [saying] = waiting;
      if (!saying) return frame;
      frame.set(saying.samples.subarray(saying.at, saying.at + samples));
      saying.at += samples;
      if (saying.at >= saying.samples.length) waiting.shift()?.said();
      return frame;
    },
    say(phrase) {
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.push({ samples: phrases.say(phrase, { sampleRateHz }).samples, at: 0, said: resolve });
      return promise;
    },
  };
}

export async function overWebSocket(port: number): Promise<Caller> {
  const client = await openSocket(`ws://127.0.0.1:${port}/ws-client`);
  const mouth = createMouth(16_000);
  let dueMs = performance.now();
  const line = setInterval(() => {
    for (; dueMs <= performance.now(); dueMs += FRAME_MS)
      if (client.socket.readyState === WebSocket.OPEN)
        client.sendAudio(mouth.next(samplesIn(FRAME_MS, 16_000)));
  }, FRAME_MS);
  return {
    say: mouth.say,
    async [Symbol.asyncDispose]() {
      clearInterval(line);
      client.socket.close();
      await client.closed();
    },
  };
}

export async function overWebRtc(port: number): Promise<Caller> {
  const peer = await callBot({ port });
  const waiting: { phrase: string; said(): void }[] = [];
  let isOpen = true;
  const talking = (async () => {
    while (isOpen) {
      const next = waiting.shift();
      if (next) await peer.say(phrases.say(next.phrase, { sampleRateHz: 48_000 }).samples);
      else await peer.speak(5, "silence");
      next?.said();
    }
  })();
  return {
    say(phrase) {
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.push({ phrase, said: resolve });
      return promise;
    },
    async [Symbol.asyncDispose]() {
      isOpen = false;
      await talking;
      peer.close();
    },
  };
}

export async function overPhone(port: number): Promise<Caller> {
  const details = { ids: newCallIds("twilio"), from: FROM, to: TO, parameters: {} };
  const carrier = createCarrier({ name: "twilio" }, details);
  const { sampleRateHz } = carrier.uplink;
  const mouth = createMouth(sampleRateHz);
  const call = placeCall({
    carrier,
    voice: { sampleRateHz, isFinished: false, next: mouth.next },
    openSocket: () => new WebSocket(`ws://127.0.0.1:${port}/ws`, { perMessageDeflate: false }),
    connectTimeoutMs: 30_000,
    maxCallMs: 900_000,
    onEvent: () => undefined,
  });
  return {
    say: mouth.say,
    async [Symbol.asyncDispose]() {
      call.hangUp();
      const { summary } = await call.ended;
      if (summary.violations.length > 0)
        throw new Error(`The bot broke the carrier's rules: ${JSON.stringify(summary.violations)}`);
    },
  };
}
