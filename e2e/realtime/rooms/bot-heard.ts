import { eventually } from "../../../testing/wait.ts";
import { isMostly } from "../../conformance/tone.ts";
import type { NodeAttendee } from "./node-attendee.ts";

/** Resolves when the bot in the attendee's room is heard saying this tone back. */
export async function botHeard(attendee: NodeAttendee, toneHz: number): Promise<void> {
  await eventually({
    what: "the bot in the room is heard",
    look: async () => {
      const bot = (await attendee.others()).find(({ identity }) => identity.startsWith("Bot-"));
      return bot && attendee.hear(bot.identity);
    },
    until: (tone) => tone !== undefined && isMostly(tone, toneHz),
  });
}
