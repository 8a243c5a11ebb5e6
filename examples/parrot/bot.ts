// Waits until you have finished, repeats what you said, and stops when you interrupt it.
import { createTransport, detectTurns, type RunnerArguments } from "vocalhost";

export async function bot(args: RunnerArguments): Promise<void> {
  const transport = await createTransport(args);
  for await (const turn of detectTurns(transport)) {
    if (turn.type === "turn-end") transport.audioOut.write(turn.audio);
  }
}

if (import.meta.main) await (await import("vocalhost/runner")).main();
