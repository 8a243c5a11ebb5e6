import type { Metrics } from "@vocalhost/protocol";

/** Latencies of one turn, in milliseconds since the end of the user's speech; undefined: it did not happen. */
export interface TurnFigures {
  /** Counted from 1; typed text is a turn too. */
  turn: number;
  /** When the user's turn was judged to be over. */
  decidedMs: number;
  /** When the text of the user's speech was known. */
  understoodMs: number | undefined;
  /** When the model gave its first word. */
  firstTokenMs: number | undefined;
  /** When the voice gave its first sound. */
  firstSpeechMs: number | undefined;
  /** When the first sound was sent to the user. */
  firstAudioMs: number | undefined;
  toolCalls: number;
  inputTokens: number;
  outputTokens: number;
  interrupted: boolean;
}

/** Returns the RTVI metrics messages of a turn; `llm` and `tts` are the names of the processors. */
export function metricsOf(figures: TurnFigures, { llm, tts }: { llm: string; tts: string }): Metrics[] {
  const { decidedMs, firstTokenMs, firstSpeechMs, inputTokens, outputTokens } = figures;
  const ttfb = [];
  if (firstTokenMs !== undefined) ttfb.push({ processor: llm, value: (firstTokenMs - decidedMs) / 1000 });
  if (firstSpeechMs !== undefined && firstTokenMs !== undefined)
    ttfb.push({ processor: tts, value: (firstSpeechMs - firstTokenMs) / 1000 });
  const usage = {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
  };
  return [...(ttfb.length > 0 ? [{ ttfb }] : []), ...(usage.total_tokens > 0 ? [{ tokens: [usage] }] : [])];
}
