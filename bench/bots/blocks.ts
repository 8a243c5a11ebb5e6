// Echoes, and keeps its thread busy 120 ms in every 400, as a bot that thinks too hard would.
import { createTransport, type RunnerArguments } from "vocalhost";

const BUSY_MS = 120;
const EVERY_MS = 400;

export function prewarm(): void {
  setInterval(() => {
    const untilMs = performance.now() + BUSY_MS;
    while (performance.now() < untilMs);
  }, EVERY_MS);
}

export async function bot(args: RunnerArguments): Promise<void> {
  const transport = await createTransport(args);
  for await (const frame of transport.audioIn) transport.audioOut.write(frame);
}

if (import.meta.main) await (await import("vocalhost/runner")).main();
