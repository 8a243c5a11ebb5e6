import { pause, until } from "../../testing/wait.ts";
import type { SocketClient } from "./socket-client.ts";

const NOISE_PEAK = 8_000;
/** Level of evenly distributed samples. */
export const NOISE_LEVEL = NOISE_PEAK / Math.sqrt(3);
export const NOISE_FRAMES = 150;
const SAMPLE_RATE_HZ = 16_000;
const FRAME_SAMPLES = SAMPLE_RATE_HZ / 50;
const SETTLED_FRAMES = 100; // the engine needs a moment to recognise silence

/** Level of the noise that an echo bot sends back, once a voice filter would have settled. */
export async function echoOfNoise(client: SocketClient): Promise<number> {
  for (let frame = 0; frame < NOISE_FRAMES; frame++) {
    if (frame === SETTLED_FRAMES) client.restart();
    const noise = Int16Array.from({ length: FRAME_SAMPLES }, () => (Math.random() * 2 - 1) * NOISE_PEAK);
    client.sendAudio(noise, SAMPLE_RATE_HZ);
    await pause(20); // as a microphone sends it
  }
  await until(() => client.heardMs > 500, 10_000, "echo");
  return client.level;
}
