// Apart from the sounds: the pages offer these names before they load the recording.
export const surroundingNames = ["talker", "babble", "music", "noise"] as const;
export type SurroundingName = (typeof surroundingNames)[number];
