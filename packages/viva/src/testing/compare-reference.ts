// Compares the engine with vectors of training/viva/reference_clips.py: node packages/viva/src/testing/compare-reference.ts clips/
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { openEngine } from "../engine.ts";
import { readReferences, type Reference } from "./reference.ts";

const folder = pathToFileURL(`${resolve(process.argv[2] ?? ".")}/`);
const worst = readReferences(folder).map(compare);
process.stdout.write(`${worst.length} clips, off by ${Math.max(...worst)} of full scale at most\n`);

function compare({ model, sampleRateHz, input, output }: Reference): number {
  using engine = openEngine({ model, sampleRateHz });
  const filtered = [...engine.process(input), ...engine.flush()].slice(engine.delaySamples);
  return (
    output.reduce((most, value, at) => Math.max(most, Math.abs(value - (filtered[at] ?? 0))), 0) / 32_768
  );
}
