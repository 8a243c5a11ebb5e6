// Talks without end and listens all the while: the busiest a phone bot can be without thinking.
import { createTransport, type RunnerArguments, type Transport } from "vocalhost";

const RATE_HZ = 24_000;
const PHRASE = Int16Array.from({ length: RATE_HZ / 10 }, (_, at) =>
  Math.round(8_000 * Math.sin((2 * Math.PI * 440 * at) / RATE_HZ)),
);

export async function bot(args: RunnerArguments): Promise<void> {
  const transport = await createTransport(args);
  await Promise.all([talk(transport), listen(transport)]);
}

async function talk({ audioOut, signal }: Transport): Promise<void> {
  while (!signal.aborted) {
    if (!audioOut.write({ samples: PHRASE, sampleRateHz: RATE_HZ })) await audioOut.ready();
  }
}

async function listen({ audioIn }: Transport): Promise<void> {
  const frames = audioIn[Symbol.asyncIterator]();
  while (!(await frames.next()).done);
}

if (import.meta.main) await (await import("vocalhost/runner")).main();
