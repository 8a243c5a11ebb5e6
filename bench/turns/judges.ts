import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { adaptiveSilence, fixedSilence, type EndOfTurn } from "vocalhost";
import { smartTurn, type OnnxRuntime } from "vocalhost/providers/smart-turn";

/** A way to decide; each caller has one of their own, for it learns. */
export interface Judge {
  name: string;
  /** Time it takes from where a pause begins. */
  judgeMs: number;
  /** Whether it matters what was said. */
  hearsWords: boolean;
  create(): EndOfTurn;
}

const WEIGHTS = fileURLToPath(new URL("../recordings/smart-turn-v3.2-cpu.onnx", import.meta.url));
const SMART_TURN_MS = 150; // features and model on one slow core

export async function findJudges(): Promise<Judge[]> {
  const judges: Judge[] = [
    { name: "always 700 ms", judgeMs: 0, hearsWords: false, create: () => fixedSilence(700) },
    { name: "always 300 ms", judgeMs: 0, hearsWords: false, create: () => fixedSilence(300) },
    { name: "adaptive", judgeMs: 0, hearsWords: true, create: () => adaptiveSilence() },
  ];
  const runtime = await loadRuntime();
  if (runtime && existsSync(WEIGHTS))
    judges.push({
      name: "Smart Turn",
      judgeMs: SMART_TURN_MS,
      hearsWords: true,
      create: () => smartTurn({ runtime, model: WEIGHTS }),
    });
  return judges;
}

/** It is not among the dependencies: 290 MB, and its installation downloads more. */
async function loadRuntime(): Promise<OnnxRuntime | undefined> {
  const path: string = "onnxruntime-node";
  return import(path).then(
    (module) => (module as { default: OnnxRuntime }).default,
    () => undefined,
  );
}
