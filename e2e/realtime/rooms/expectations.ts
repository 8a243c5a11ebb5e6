import { eventually } from "../../../testing/wait.ts";
import { isMostly, isSilence } from "../../conformance/tone.ts";
import type { Attendee } from "./attendee.ts";

export async function hears(listener: Attendee, speaker: Attendee): Promise<void> {
  await eventually({
    what: `${listener.identity} hears ${speaker.identity} at ${speaker.toneHz} Hz`,
    look: async () => ({ tone: await listener.hear(speaker.identity), others: await listener.others() }),
    until: ({ tone }) => isMostly(tone, speaker.toneHz),
  });
}

export async function silentAbout(listener: Attendee, speaker: Attendee): Promise<void> {
  await eventually({
    what: `${listener.identity} hears nothing of ${speaker.identity}`,
    look: () => listener.hear(speaker.identity),
    until: isSilence,
  });
}

export async function speaks(observer: Attendee, identity: string): Promise<void> {
  await eventually({
    what: `${observer.identity} is told that ${identity} speaks`,
    look: () => observer.speakers(),
    until: (speakers) => speakers.includes(identity),
  });
}

/** Clients give a message no sender until they know who that is, and may learn it seconds later. */
export async function sees(observer: Attendee, other: Attendee): Promise<void> {
  await eventually({
    what: `${observer.identity} sees ${other.identity}`,
    look: () => observer.others(),
    until: (seen) => seen.some(({ identity }) => identity === other.identity),
  });
}
