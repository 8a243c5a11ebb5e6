import type { Transport } from "../transports/transport.ts";

const START_MS = 100; // shorter speech is a click
const STOP_MS = 200; // shorter silence is within a word

/** Reports to clients when voice begins and ends, from the decisions for windows. */
export function createVoiceChanges(
  rtvi: Pick<Transport["rtvi"], "vadUserStartedSpeaking" | "vadUserStoppedSpeaking">,
): (isSpeech: boolean, windowMs: number) => void {
  let speaking = false;
  let otherwiseMs = 0; // how long decisions have differed from the reported state
  return (isSpeech, windowMs) => {
    otherwiseMs = isSpeech === speaking ? 0 : otherwiseMs + windowMs;
    if (otherwiseMs < (speaking ? STOP_MS : START_MS)) return;
    speaking = isSpeech;
    otherwiseMs = 0;
    if (speaking) rtvi.vadUserStartedSpeaking();
    else rtvi.vadUserStoppedSpeaking();
  };
}
