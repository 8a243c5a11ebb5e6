import { decodeG711, encodeG711 } from "@vocalhost/audio";
import { pause } from "../../testing/wait.ts";
import { openCarrierSocket } from "./carrier-socket.ts";
import { openingOf } from "./openings.ts";

/** A well-behaved Twilio call to a bot that echoes: speaks in real time, returns marks, counts what comes back. */
export interface HealthyCall {
  /** Stops speaking, waits for the rest of the echo and hangs up. */
  finish(): Promise<{ sentMs: number; echoedMs: number }>;
}

const CHUNK_MS = 20;
const LEVEL = 8_000; // a constant passes every resampler unchanged
const TOLERANCE = 600;
const QUIET_MS = 3_000; // without anything new the echo is over
const PAYLOAD = Buffer.from(encodeG711(new Int16Array(160).fill(LEVEL), "mulaw")).toString("base64");

export async function startHealthyCall(url: string, callId: string): Promise<HealthyCall> {
  const socket = await openCarrierSocket(url);
  const startedMs = performance.now();
  let chunks = 0;
  let echoedSamples = 0;
  socket.socket.on("message", (data: Buffer) => {
    const message = JSON.parse(data.toString()) as {
      event: string;
      media?: { payload: string };
      mark?: object;
    };
    if (message.event === "mark") socket.say({ event: "mark", streamSid: "MZ1", mark: message.mark });
    if (message.event !== "media") return;
    const samples = decodeG711(Buffer.from(message.media?.payload ?? "", "base64"), "mulaw");
    for (const sample of samples) if (Math.abs(sample - LEVEL) < TOLERANCE) echoedSamples += 1;
  });
  socket.say(...openingOf("twilio", callId));
  const timer = setInterval(() => {
    const dueChunks = Math.floor((performance.now() - startedMs) / CHUNK_MS);
    for (; chunks < dueChunks; chunks += 1)
      socket.say({
        event: "media",
        streamSid: "MZ1",
        media: { track: "inbound", chunk: String(chunks + 1), payload: PAYLOAD },
      });
  }, CHUNK_MS);

  return {
    async finish() {
      clearInterval(timer);
      const sentMs = chunks * CHUNK_MS;
      const echoedMs = (): number => echoedSamples / 8;
      // An echo goes at real time, so whatever held it up has made it late.
      for (let before = -1; before < echoedMs() && echoedMs() < sentMs - 2 * CHUNK_MS;) {
        before = echoedMs();
        await pause(QUIET_MS);
      }
      socket.say({ event: "stop", streamSid: "MZ1", stop: { callSid: callId } });
      await socket.closed();
      return { sentMs, echoedMs: echoedMs() };
    },
  };
}
