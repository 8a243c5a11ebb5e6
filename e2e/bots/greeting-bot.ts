// Says one second of a tone the moment it is called, and is done.
import { createTransport, type RunnerArguments } from "vocalhost";

const SAMPLE_RATE_HZ = 24_000;

export async function bot(args: RunnerArguments): Promise<void> {
  const transport = await createTransport(args);
  const samples = Int16Array.from({ length: SAMPLE_RATE_HZ }, (_, at) =>
    Math.round(9_000 * Math.sin((2 * Math.PI * 440 * at) / SAMPLE_RATE_HZ)),
  );
  transport.audioOut.write({ samples, sampleRateHz: SAMPLE_RATE_HZ });
}

if (import.meta.main) await (await import("vocalhost/runner")).main();
