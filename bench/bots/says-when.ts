// Tells the benchmark when it was entered, and ends.
import type { RunnerArguments } from "vocalhost";

export async function bot(args: RunnerArguments): Promise<void> {
  process.send?.({ enteredMs: performance.timeOrigin + performance.now(), body: args.body });
}

if (import.meta.main) await (await import("vocalhost/runner")).main();
