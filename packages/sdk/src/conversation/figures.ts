/** How long everything took in one turn, in milliseconds since the user's last speech; undefined: it did not happen. */
export interface TurnFigures {
  /** Counted from 1; text that was typed is a turn too. */
  turn: number;
  /** The user was taken to have finished. */
  decidedMs: number;
  /** What was said was known as text. */
  understoodMs: number | undefined;
  /** The model's first word. */
  firstTokenMs: number | undefined;
  /** The voice's first sound. */
  firstSpeechMs: number | undefined;
  /** The first sound on its way to the user. */
  firstAudioMs: number | undefined;
  toolCalls: number;
  inputTokens: number;
  outputTokens: number;
  interrupted: boolean;
}
