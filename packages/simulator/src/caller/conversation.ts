import type { AudioFrame } from "@vocalhost/audio";
import { addTo, atRate } from "../at-rate.ts";

/** A caller with manners: lets the bot greet, says its sentences one by one, waits for each answer. */
export function createConversation(options: ConversationOptions): CallerVoice {
  const { sampleRateHz } = options;
  const background = options.background ?? ((samples) => new Int16Array(samples));
  const sentences = options.sentences.map((sentence) => atRate(sentence, sampleRateHz));
  let saying: Int16Array | undefined;
  let said = 0; // samples of the sentence being said
  let spokeUntilMs = 0;

  function mayTalk(line: LineMoment): boolean {
    const hasSpoken = sentences.length < options.sentences.length;
    const { botTalkingSinceMs, botLastHeardMs = -Infinity } = line;
    if (botTalkingSinceMs !== undefined) {
      const interruptAfterMs = hasSpoken ? (options.interruptAfterMs ?? Infinity) : Infinity;
      return line.atMs - botTalkingSinceMs >= interruptAfterMs;
    }
    const answered = botLastHeardMs > spokeUntilMs;
    if (answered) return line.atMs - botLastHeardMs >= TURN_PAUSE_MS;
    return line.atMs - spokeUntilMs >= (hasSpoken ? ANSWER_WAIT_MS : GREETING_WAIT_MS);
  }

  return {
    sampleRateHz,
    next(samples, line) {
      const sound = background(samples);
      if (!saying && sentences.length > 0 && mayTalk(line)) {
        saying = sentences.shift();
        said = 0;
      }
      if (!saying) return sound;
      addTo(sound, saying.subarray(said, said + samples));
      said += samples;
      spokeUntilMs = line.atMs + (samples * 1000) / sampleRateHz;
      if (said >= saying.length) saying = undefined;
      return sound;
    },
    get isFinished() {
      return !saying && sentences.length === 0;
    },
  };
}

export interface ConversationOptions {
  /** Rate of the line; sentences may have other rates. */
  sampleRateHz: number;
  sentences: readonly AudioFrame[];
  /** Heard under everything. @default silence */
  background?: (samples: number) => Int16Array;
  /** From the second sentence on: cut in when the bot has talked this long. @default never */
  interruptAfterMs?: number;
}

const GREETING_WAIT_MS = 1000; // bots that greet have begun by then
const ANSWER_WAIT_MS = 8000; // for a bot that thinks; a person would ask "hello?" now
const TURN_PAUSE_MS = 1000; // longer than a bot breathes between sentences

/** The person at the telephone: asked for every chunk of microphone, told what the line is like. */
export interface CallerVoice {
  readonly sampleRateHz: number;
  /** Exactly so many samples; silence when there is nothing to say. */
  next(samples: number, line: LineMoment): Int16Array;
  /** Nothing more will be said: the call may end when the bot has fallen silent. */
  readonly isFinished: boolean;
}

export interface LineMoment {
  /** Since the stream began. */
  atMs: number;
  /** Undefined while the bot is quiet. */
  botTalkingSinceMs: number | undefined;
  /** When the bot was last heard; undefined before its first word. */
  botLastHeardMs: number | undefined;
}
