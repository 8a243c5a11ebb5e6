import type { Attendee } from "../../shared/events/connection-event.ts";

/** What to call somebody in the room; identities end in letters nobody wants to read. */
export function attendeeName({ kind, name, identity }: Attendee): string {
  if (kind === "you") return "You";
  if (name !== "") return name;
  if (kind === "bot") return "Bot";
  const guest = /^Guest-(\d+)-/.exec(identity)?.[1];
  if (guest) return `Guest ${guest}`;
  return identity.startsWith("User-") ? "Host" : identity;
}
