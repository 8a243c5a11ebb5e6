import type { ConnectionEvent } from "../events/connection-event.ts";

/** The current speakers, as the bot sees them. */
export interface Speaking {
  user: boolean;
  bot: boolean;
}

export const noOneSpeaking: Speaking = { user: false, bot: false };

export function nextSpeaking(speaking: Speaking, event: ConnectionEvent): Speaking {
  if (event.type === "session-requested") return noOneSpeaking;
  if (event.type === "speech-start") return { ...speaking, [event.who]: true };
  if (event.type === "speech-end") return { ...speaking, [event.who]: false };
  if (event.type !== "message-received") return speaking;
  switch (event.message.type) {
    case "user-started-speaking":
      return { ...speaking, user: true };
    case "user-stopped-speaking":
      return { ...speaking, user: false };
    case "bot-started-speaking":
      return { ...speaking, bot: true };
    case "bot-stopped-speaking":
    case "bot-interrupted":
      return { ...speaking, bot: false };
    default:
      return speaking;
  }
}
