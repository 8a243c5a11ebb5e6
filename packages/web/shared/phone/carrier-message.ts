import type { ReceivedMessage } from "../events/connection-event.ts";

const SOUND = /"event":\s*"(?:media|playAudio)"/; // dozens a second
const SHOWN_CHARACTERS = 400;

/** A message of the media stream as the event log shows it; sound is left out. */
export function toLoggedMessage(text: string): ReceivedMessage | undefined {
  if (SOUND.test(text)) return undefined;
  try {
    const { event, ...data } = JSON.parse(text) as Record<string, unknown>;
    if (typeof event === "string") return { type: event, data };
  } catch {} // a bot may send anything
  return { type: "unreadable", data: text.slice(0, SHOWN_CHARACTERS) };
}
