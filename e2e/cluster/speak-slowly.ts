import type { SocketClient } from "../harness/socket-client.ts";

/** Says a recording at real time, and silence after it, until it is told to stop. */
export function speakSlowly(socket: SocketClient, samples: Int16Array, sampleRateHz: number): () => void {
  const step = sampleRateHz / 50;
  const startMs = performance.now();
  let at = 0;
  const timer = setInterval(() => {
    for (; (at / sampleRateHz) * 1_000 < performance.now() - startMs; at += step) {
      const part = samples.subarray(at, at + step);
      socket.sendAudio(part.length === step ? part : new Int16Array(step), sampleRateHz);
    }
  }, 20);
  return () => clearInterval(timer);
}
