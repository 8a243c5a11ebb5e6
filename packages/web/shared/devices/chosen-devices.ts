import { createSavedText } from "../store.ts";

/** The user's choice, kept in this browser; empty for the system's default. */
export const chosenMicrophone = createSavedText("vocalhost-microphone");
export const chosenSpeaker = createSavedText("vocalhost-speaker");
