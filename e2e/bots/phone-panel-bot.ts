// Takes calls, does what the start body's `mode` asks for, and tells about them under `GET /calls`.
import { once } from "node:events";
import { createTransport, type RunnerArguments, type Transport } from "vocalhost";
import { app, main } from "vocalhost/runner";

export interface PanelCall {
  carrier: unknown;
  from: string | null | undefined;
  to: string | null | undefined;
  keys: string;
}

const RATE_HZ = 24_000;
const calls: PanelCall[] = [];
app.get("/calls", async () => calls);

export async function bot(args: RunnerArguments): Promise<void> {
  const call: PanelCall = {
    carrier: args.kind === "websocket" ? args.transportType : undefined,
    from: args.callData?.from,
    to: args.callData?.to,
    keys: "",
  };
  calls.push(call);
  const { mode } = (args.body ?? {}) as { mode?: string };
  const transport = await createTransport(args);
  switch (mode) {
    case "keys":
      return answerKeys(transport, call);
    case "goodbye":
      say(transport, 800);
      return void (await transport.audioOut.drained());
    case "leave":
      return;
    case "fail":
      throw new Error("out of order");
    default:
      await once(args.signal, "abort");
  }
}

async function answerKeys(transport: Transport, call: PanelCall): Promise<void> {
  for await (const key of transport.dtmf) {
    call.keys += key;
    say(transport, 600);
  }
}

function say({ audioOut }: Transport, ms: number): void {
  const step = (2 * Math.PI * 330) / RATE_HZ;
  const wave = (_: unknown, at: number): number => Math.round(9000 * Math.sin(step * at));
  audioOut.write({
    samples: Int16Array.from({ length: (RATE_HZ * ms) / 1000 }, wave),
    sampleRateHz: RATE_HZ,
  });
}

if (import.meta.main) await main();
