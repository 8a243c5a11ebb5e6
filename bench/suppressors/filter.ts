// node bench/suppressors/filter.ts rnnoise|gtcrn <samples >samples — 32-bit floats at the suppressor's own rate, aligned
import { buffer } from "node:stream/consumers";
import { loadGtcrn } from "./gtcrn.ts";
import { loadRnnoise } from "./rnnoise.ts";
import type { Suppressor } from "./suppressor.ts";

const SUPPRESSORS: Record<string, () => Suppressor | Promise<Suppressor>> = {
  rnnoise: loadRnnoise,
  gtcrn: loadGtcrn,
};

const load = SUPPRESSORS[process.argv[2] ?? ""];
if (!load) {
  console.error(
    `Name a suppressor: ${Object.keys(SUPPRESSORS).join(" or ")}. Samples come on the standard input.`,
  );
  process.exit(2);
}
const suppressor = await load();
const bytes = await buffer(process.stdin);
const samples = new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
process.stdout.write(new Uint8Array(filter(suppressor, samples).buffer));

/** The whole recording, as if the suppressor had no delay. */
function filter({ frameSamples, delaySamples, open }: Suppressor, input: Float32Array): Float32Array {
  const frames = Math.ceil((input.length + delaySamples) / frameSamples);
  const padded = new Float32Array(frames * frameSamples);
  padded.set(input);
  const output = new Float32Array(padded.length);
  const next = open();
  for (let at = 0; at < padded.length; at += frameSamples)
    output.set(next(padded.subarray(at, at + frameSamples)), at);
  return output.slice(delaySamples, delaySamples + input.length);
}
