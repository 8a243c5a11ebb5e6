import { voice } from "@livekit/agents";
import type { Mouth } from "./mouth.ts";

type TextOutput = NonNullable<voice.AgentSession["output"]["transcription"]>;

/** Where an `AgentSession` writes what it says. The library keeps the class to itself; this is all it calls of one. */
export function toTextOutput(mouth: Mouth): TextOutput {
  const output: Pick<TextOutput, "captureText" | "flush" | "onAttached" | "onDetached"> = {
    captureText(text) {
      if (!voice.isTimedString(text)) mouth.addText({ text });
      else
        mouth.addText({
          text: text.text,
          ...(text.endTime === undefined ? {} : { endMs: text.endTime * 1000 }),
        });
      return Promise.resolve();
    },
    flush: () => mouth.endText(),
    onAttached: () => undefined,
    onDetached: () => undefined,
  };
  return output;
}
