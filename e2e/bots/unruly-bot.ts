// Misbehaves as it is told, next to sessions that do not.
import { createTransport, type RunnerArguments, type Transport } from "vocalhost";
import { main } from "vocalhost/runner";
import { mountRunnerFigures } from "./figures.ts";

await mountRunnerFigures();

const FLOOD_MS = 10 * 60_000;
const MESSAGES = 100_000;

const behaviours: Record<string, (transport: Transport, args: RunnerArguments) => unknown> = {
  async echo(transport) {
    for await (const frame of transport.audioIn) transport.audioOut.write(frame);
  },
  "throws at once"() {
    throw new Error("thrown at once");
  },
  "throws in a timer"(_transport, args) {
    setTimeout(() => {
      throw new Error("thrown in a timer");
    }, 50);
    return ended(args);
  },
  "throws when connected"(transport, args) {
    transport.on("client-connected", () => {
      throw new Error("thrown when connected");
    });
    return ended(args);
  },
  "forgets a rejection"(_transport, args) {
    void fail("forgotten");
    return ended(args);
  },
  "throws in a listener"(transport, args) {
    transport.messages.onMessage(() => {
      throw new SyntaxError("thrown in a listener");
    });
    return ended(args);
  },
  "rejects in a listener"(transport, args) {
    transport.messages.onMessage(() => void fail("rejected in a listener"));
    return ended(args);
  },
  hangs: () => new Promise(() => undefined),
  "floods audio"(transport, args) {
    const second = { samples: new Int16Array(24_000).fill(5_000), sampleRateHz: 24_000 };
    for (let ms = 0; ms < FLOOD_MS; ms += 1_000) transport.audioOut.write(second);
    transport.rtvi.serverMessage({
      queuedMs: transport.audioOut.queuedMs,
      droppedMs: transport.audioOut.droppedMs,
    });
    return ended(args);
  },
  deaf: (_transport, args) => ended(args),
  async "tells its end"(_transport, args) {
    await ended(args);
    process.stdout.write(`${args.sessionId} was told: ${args.signal.reason.reason}\n`);
  },
  "talks when told"(transport, args) {
    transport.messages.onMessage(() => void talk(transport));
    return ended(args);
  },
  async "blocks the thread"(_transport, args) {
    for (let round = 0; round < 10 && !args.signal.aborted; round += 1) {
      const untilMs = performance.now() + 120;
      while (performance.now() < untilMs);
      await new Promise((resolve) => setTimeout(resolve, 280));
    }
  },
};

export async function bot(args: RunnerArguments): Promise<void> {
  const { mode } = args.body as { mode: string };
  const transport = await createTransport(args);
  await behaviours[mode]?.(transport, args);
}

async function talk({ rtvi }: Transport): Promise<void> {
  for (let at = 0; at < MESSAGES; at += 1) {
    rtvi.serverMessage({ at, text: "x".repeat(100) });
    if (at % 100 === 0) await new Promise(setImmediate);
  }
}

function ended({ signal }: RunnerArguments): Promise<unknown> {
  return new Promise((resolve) =>
    signal.aborted ? resolve(undefined) : signal.addEventListener("abort", resolve),
  );
}

async function fail(reason: string): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 10));
  throw new Error(reason);
}

if (import.meta.main) await main();
