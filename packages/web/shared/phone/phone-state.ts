import type { CallSummary } from "@vocalhost/simulator";
import { createSavedText, createStore } from "../store.ts";
import type { CallChoice } from "../connection/open-session.ts";
import { emptyFigures, type ShownFigures } from "./call-figures.ts";

/** The user's choices, kept in this browser. The default numbers are reserved for fiction. */
export const chosenCarrier = createSavedText("vocalhost-carrier", "twilio");
export const fromNumber = createSavedText("vocalhost-from", "+12025550143");
export const toNumber = createSavedText("vocalhost-to", "+12025550199");

/** A sound around the user; empty for none. Not kept: who comes back tomorrow expects a quiet line. */
export const chosenBackground = createStore("");
export const chosenBackgroundLevel = createStore("10");

/** The call in progress, a few times a second. */
export const callFigures = createStore<ShownFigures>({ ...emptyFigures, leadMs: 0, ownLagMs: 0 });

/** The last call that came about. */
export const finishedCall = createStore<FinishedCall | undefined>(undefined);

export interface FinishedCall extends CallChoice {
  endedMs: number;
  summary: CallSummary;
  recording: CallRecording;
}

/** Both sides: the user at the left, the bot at the right. */
export interface CallRecording {
  /** Address of the WAV file; valid until the next call or until the page is closed. */
  url: string;
  durationMs: number;
  /** Loudness from 0 to 1 over the whole call, in steps of equal length. */
  said: number[];
  heard: number[];
}
