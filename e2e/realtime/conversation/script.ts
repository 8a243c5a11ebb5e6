/** The words of the scripted conversation, which the bot and its callers share. */
export const QUESTION = "Tell me about the city please.";
export const STOP = "Stop that right now please.";
export const GO_ON = "mm-hmm";
export const WEATHER = "What is the weather there today?";
export const PHRASES = [QUESTION, STOP, GO_ON, WEATHER];

export const STORY =
  "The city lies on seven hills above a river. It has been lived in for almost three thousand years. " +
  "Its oldest bridge is still in use, and its markets open before the sun is up. Would you like to hear more?";
export const STOPPED = "All right, I stop.";
export const FORECAST = "It is twenty five degrees and sunny.";

/** The report of the bot about a conversation. */
export interface ConversationRecord {
  sessionId: string;
  events: string[];
  messages: { role: string; content: string }[];
  figures: { decidedMs: number; firstAudioMs?: number; interrupted: boolean; toolCalls: number }[];
  errors: string[];
}
