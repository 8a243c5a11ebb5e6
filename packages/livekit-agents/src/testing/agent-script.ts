// The dialogue between the bot of these tests and its callers. Each phrase is a tone, by its place in the list;
// the same list as in `e2e/realtime/conversation/script.ts`.
export const QUESTION = "Tell me about the city please.";
export const STOP = "Stop that right now please.";
/** Taken for a sound without words. */
export const COUGH = "mm-hmm";
export const PHRASES = [QUESTION, STOP, COUGH];

export const STORY =
  "The city lies on seven hills above a wide river. Its markets open early. Shall I go on?";
export const STOPPED = "All right, I stop.";
/** Typed by the client, not spoken. */
export const GOODBYE = "Goodbye.";
export const FAREWELL = "Have a nice day.";
export const RIDDLE = "What breaks a model?";

/** Record of a session that the bot sends. */
export interface SessionRecord {
  sessionId: string;
  /** In the order in which they happened. */
  events: string[];
  /** How much was heard of every stretch of speech. */
  playbacks: { positionMs: number; interrupted: boolean }[];
  /** The session's own history. */
  history: { role: string; text: string; interrupted: boolean }[];
}
