import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

export type ModelName = "tel" | "pro";

/** The header of a model file, before its weights. */
export interface ModelHeader {
  name: ModelName;
  version: string;
  licence: string;
  /** Sizes of the layers; `bands` is 0 where nothing is known above 8 kHz. */
  conv: number;
  hidden: number;
  /** Size of the detector of music on hold. */
  holdHidden: number;
  bands: number;
  bandHidden: number;
  payloadBytes: number;
  payloadSha256: string;
}

export interface ModelFile {
  header: ModelHeader;
  /** Weights as the kernel reads them. */
  payload: Uint8Array;
}

const MAGIC = "VIVA2\n";

/** Reads a model that comes with this package, and makes sure that it is whole. */
export function readModel(name: ModelName): ModelFile {
  const path = new URL(`../models/${name}.viva`, import.meta.url);
  return parseModel(readFileSync(path), name);
}

/** A line that names the format, a line of JSON, then the payload. */
export function parseModel(bytes: Uint8Array, name: ModelName): ModelFile {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = text.indexOf("\n", MAGIC.length);
  if (!text.subarray(0, MAGIC.length).equals(Buffer.from(MAGIC)) || end < 0)
    throw new Error(`The voice isolation model ${name} is not a model file of this version`);
  const header = JSON.parse(text.toString("utf8", MAGIC.length, end)) as ModelHeader;
  const payload = bytes.subarray(end + 1);
  const sha256 = createHash("sha256").update(payload).digest("hex");
  if (header.name !== name || payload.length !== header.payloadBytes || sha256 !== header.payloadSha256)
    throw new Error(`The voice isolation model ${name} is damaged: its checksum does not match`);
  return { header, payload };
}
