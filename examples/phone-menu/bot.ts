// A phone menu without a voice: one beep asks for a choice, two for a number, a low one says that it was wrong.
//   1 connects the caller with DESK_NUMBER, 2 asks for four digits and plays them back, 0 hangs up.
// Try it without a phone: node bot.ts, then npx vocalhost call --dtmf 21234
import { createTransport, type RunnerArguments, type Transport } from "vocalhost";

const RATE_HZ = 24_000;
const TRIES = 3;

export async function bot(args: RunnerArguments): Promise<void> {
  const transport = await createTransport(args, { audioOut: { sampleRateHz: RATE_HZ } });
  for (let tries = 0; tries < TRIES; tries += 1) {
    await beep(transport, 880);
    const { keys, end } = await transport.dtmf.collect({ digits: 1, timeoutMs: 8_000 });
    if (end === "ended") return;
    if (keys === "0") return;
    if (keys === "1" && (await connectDesk(transport))) return;
    if (keys === "2") await repeatNumber(transport);
    else await beep(transport, 220);
  }
}

/** The call goes on at the desk; our part of it is over. */
async function connectDesk(transport: Transport): Promise<boolean> {
  const desk = process.env["DESK_NUMBER"];
  if (!desk || !transport.call) return false;
  try {
    await transport.call.transfer(desk);
    return true;
  } catch (error) {
    process.stderr.write(`The desk cannot be reached: ${(error as Error).message}\n`);
    return false; // the caller is still ours
  }
}

async function repeatNumber(transport: Transport): Promise<void> {
  await beep(transport, 880);
  await beep(transport, 880);
  const { keys } = await transport.dtmf.collect({ digits: 4, endKey: "#", timeoutMs: 5_000 });
  if (keys) await transport.call?.sendDtmf(keys);
}

async function beep({ audioOut }: Transport, frequencyHz: number): Promise<void> {
  const samples = Int16Array.from({ length: RATE_HZ / 5 }, (_, at) =>
    Math.round(8_000 * Math.sin((2 * Math.PI * frequencyHz * at) / RATE_HZ)),
  );
  audioOut.write({ samples, sampleRateHz: RATE_HZ });
  await audioOut.drained();
}

if (import.meta.main) await (await import("vocalhost/runner")).main();
