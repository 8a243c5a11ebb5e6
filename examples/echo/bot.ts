// Says back whatever it hears, as it hears it.
import { createTransport, type RunnerArguments } from "vocalhost";

export async function bot(args: RunnerArguments): Promise<void> {
  const transport = await createTransport(args);
  for await (const frame of transport.audioIn) transport.audioOut.write(frame);
}

if (import.meta.main) await (await import("vocalhost/runner")).main();
