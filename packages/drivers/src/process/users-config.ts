import { parsedBy, type Settings } from "@vocalhost/protocol";
import type { UserRange } from "./own-users.ts";

/** The users that bots and builds run as: those of a range, of one that the service picks, or the service's own. */
export type BotUsers = UserRange | "picked" | "off";

const UID_MIN = 1_000;
const UID_MAX = 2_147_483_647; // Node takes no larger one
const USERS_MIN = 100;

export const userSettings = {
  users: {
    name: "VOCALHOST_BOT_UIDS",
    schema: parsedBy(parseUsers).default("picked"),
    preset: "as root a free range",
    help: "range of user numbers that nothing else uses, such as `200000-265535`; needs root. Builds run as one of the first 16, each instance as one of the others. `off`: as the service's own user, see [below](#who-bots-and-builds-run-as)",
  },
} as const satisfies Settings;

function parseUsers(text: string): BotUsers {
  if (text === "off") return "off";
  const [, first, last] = /^(\d{4,10})-(\d{4,10})$/.exec(text)?.map(Number) ?? [];
  if (
    first === undefined ||
    last === undefined ||
    first < UID_MIN ||
    last > UID_MAX ||
    last - first < USERS_MIN
  )
    throw new Error('must be "off" or a range of at least 100 unused user numbers such as 200000-265535');
  if (process.getuid?.() !== 0)
    throw new Error("needs a service that runs as root: only root can change users");
  return { first, last };
}
