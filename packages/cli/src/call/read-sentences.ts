import { parseWav, type AudioFrame } from "@vocalhost/audio";
import { createSpeechLike } from "@vocalhost/simulator";
import { readFile } from "node:fs/promises";
import { Problem } from "../problem.ts";
import type { CallOptions } from "./call-options.ts";

/** What the caller will say: the files, or something speech-like when nothing else was asked for. */
export async function readSentences({ say, microphoneLike }: CallOptions): Promise<AudioFrame[]> {
  if (say.length > 0) return Promise.all(say.map(readSentence));
  return microphoneLike === undefined ? [createSpeechLike()] : [];
}

async function readSentence(path: string): Promise<AudioFrame> {
  let bytes: Uint8Array;
  try {
    bytes = await readFile(path);
  } catch (error) {
    throw new Problem("file_unreadable", `Cannot read ${path}`, {
      why: (error as Error).message,
      cause: error,
    });
  }
  try {
    return parseWav(bytes);
  } catch (error) {
    throw new Problem("file_not_wav", `Cannot use ${path}`, {
      why: (error as Error).message,
      fixes: [`Convert it, for example: sox ${path} -b 16 -e signed-integer sentence.wav`],
      cause: error,
    });
  }
}
