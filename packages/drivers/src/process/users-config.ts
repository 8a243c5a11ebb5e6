import type { UserRange } from "./own-users.ts";

/** Who bots and builds run as: users of this range, of one that the service picks, or the service's own. */
export type BotUsers = UserRange | "picked" | "off";

const UID_MIN = 1_000;
const UID_MAX = 2_147_483_647; // Node takes no larger one
const USERS_MIN = 100;

export function readUsers(text: string | undefined): BotUsers {
  if (text === undefined) return "picked";
  if (text === "off") return "off";
  const [, first, last] = /^(\d{4,10})-(\d{4,10})$/.exec(text)?.map(Number) ?? [];
  if (
    first === undefined ||
    last === undefined ||
    first < UID_MIN ||
    last > UID_MAX ||
    last - first < USERS_MIN
  )
    throw new Error(
      `VOCALHOST_BOT_UIDS must be "off" or a range of at least 100 unused user numbers such as 200000-265535, got "${text}"`,
    );
  if (process.getuid?.() !== 0)
    throw new Error("VOCALHOST_BOT_UIDS needs a service that runs as root: nobody else can change users");
  return { first, last };
}
