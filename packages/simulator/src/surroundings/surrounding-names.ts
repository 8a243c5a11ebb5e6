// Apart from the sounds, so that a page can offer them before it loads a recording.
export const surroundingNames = ["talker", "babble", "music", "noise"] as const;
export type SurroundingName = (typeof surroundingNames)[number];
