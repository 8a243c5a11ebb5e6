import { readFileSync } from "node:fs";
import type { ModelName } from "../model-file.ts";

/** The output of the training's own implementation for a recording (training/viva/reference.py). */
export interface Reference {
  model: ModelName;
  sampleRateHz: number;
  /** Hash of the model that made it. */
  payloadSha256: string;
  input: Int16Array;
  /** Aligned with the input. */
  output: Int16Array;
}

const FOLDER = new URL("reference/", import.meta.url);

export function readReferences(folder = FOLDER): Reference[] {
  const cases = JSON.parse(readFileSync(new URL("cases.json", folder), "utf8")) as ({
    file: string;
  } & Pick<Reference, "model" | "sampleRateHz" | "payloadSha256">)[];
  return cases.map(({ file, ...rest }) => ({
    ...rest,
    input: readSamples(`${file}.in.s16`, folder),
    output: readSamples(`${file}.out.s16`, folder),
  }));
}

/** A voice with some noise, at 16 kHz. */
export function readVoice(): Int16Array {
  return readSamples("tel-16000.in.s16", FOLDER);
}

function readSamples(name: string, folder: URL): Int16Array {
  const bytes = readFileSync(new URL(name, folder));
  return Int16Array.from({ length: bytes.length / 2 }, (_, index) => bytes.readInt16LE(2 * index));
}
