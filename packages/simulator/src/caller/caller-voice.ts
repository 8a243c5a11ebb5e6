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
