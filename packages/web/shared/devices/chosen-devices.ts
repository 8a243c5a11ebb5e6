import { createSavedText } from "../store.ts";

/** What the user chose, kept in this browser; empty: the system's default. */
export const chosenMicrophone = createSavedText("vocalhost-microphone");
export const chosenSpeaker = createSavedText("vocalhost-speaker");
