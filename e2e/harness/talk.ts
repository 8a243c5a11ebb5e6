import type { SocketClient } from "./socket-client.ts";
import { pause } from "../../testing/wait.ts";

const FRAME_MS = 20;
const SAMPLES = Int16Array.from({ length: 320 }, (_, at) =>
  Math.round(9_000 * Math.sin((2 * Math.PI * at) / 32)),
);

/** Speaks into a socket at real time until told to stop; gives the milliseconds it has spoken. */
export function keepTalking(client: SocketClient): () => Promise<number> {
  let stopped = false;
  async function talk(): Promise<number> {
    const startMs = performance.now();
    for (let frames = 1; ; frames += 1) {
      if (stopped || client.socket.readyState !== client.socket.OPEN) return (frames - 1) * FRAME_MS;
      client.sendAudio(SAMPLES);
      await pause(Math.max(0, startMs + frames * FRAME_MS - performance.now()));
    }
  }
  const talking = talk();
  return () => {
    stopped = true;
    return talking;
  };
}
