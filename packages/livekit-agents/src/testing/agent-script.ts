// What is said between the bot of these tests and its callers. Each phrase is a tone, by its place in the list: they are
// those of `e2e/realtime/conversation/script.ts`.
export const QUESTION = "Tell me about the city please.";
export const STOP = "Stop that right now please.";
/** Taken for a sound with no words in it. */
export const COUGH = "mm-hmm";
export const PHRASES = [QUESTION, STOP, COUGH];

export const STORY =
  "The city lies on seven hills above a wide river. Its markets open early. Shall I go on?";
export const STOPPED = "All right, I stop.";
/** Written by the client, not spoken. */
export const GOODBYE = "Goodbye.";
export const FAREWELL = "Have a nice day.";
export const RIDDLE = "What breaks a model?";

/** What the bot tells of a session. */
export interface SessionRecord {
  sessionId: string;
  /** In the order in which they happened. */
  events: string[];
  /** Of every stretch of speech: how much of it was heard. */
  playbacks: { positionMs: number; interrupted: boolean }[];
  /** Who said what, by the session's own history. */
  history: { role: string; text: string; interrupted: boolean }[];
}
