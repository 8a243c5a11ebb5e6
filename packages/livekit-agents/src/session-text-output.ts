import { voice } from "@livekit/agents";
import type { TextPiece } from "./heard-text.ts";
import type { Mouth } from "./mouth.ts";

type TextOutput = NonNullable<voice.AgentSession["output"]["transcription"]>;

/** Where an `AgentSession` writes what it says. The library keeps the class to itself; this is all it calls of one. */
export function toTextOutput(mouth: Mouth): TextOutput {
  const output: Pick<TextOutput, "captureText" | "flush" | "onAttached" | "onDetached"> = {
    captureText(text) {
      mouth.addText(voice.isTimedString(text) ? toPiece(text) : { text });
      return Promise.resolve();
    },
    flush: () => mouth.endText(),
    onAttached: () => undefined,
    onDetached: () => undefined,
  };
  return output;
}

function toPiece({ text, startTime, endTime }: voice.TimedString): TextPiece {
  return { text, startMs: toMs(startTime), endMs: toMs(endTime) };
}

function toMs(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : seconds * 1000;
}
