import { checkOptions } from "../check-options.ts";
import type { Listeners } from "../listeners.ts";
import type { EndOfTurn } from "../speech/end-of-turn.ts";
import type { VoiceActivity } from "../speech/voice-activity.ts";
import type { VolumeGateOptions } from "../speech/volume-gate.ts";
import type { AudioInput, Transport } from "../transports/transport.ts";
import type { InterruptionOptions } from "./turn-taking.ts";
import type { TurnFigures } from "./figures.ts";
import type { LanguageModel, Message, SpeechToText, TextToSpeech } from "./services.ts";
import type { SpeechModel } from "./speech-model.ts";
import type { Tools } from "./tool.ts";

/** A conversation between a user and a bot: they listen, answer and interrupt each other, and the bot uses tools. */
export interface Conversation extends Pick<Listeners<ConversationEvents>, "on" | "off"> {
  readonly transport: Transport;
  /** The messages given to the model. The bot's messages contain only what was heard. You may add your own. */
  readonly messages: Message[];
  /** Whether the bot is generating or speaking an answer. */
  readonly isAnswering: boolean;
  /** Runs the conversation until the session ends or `end` is called. Call it once. */
  run(): Promise<void>;
  /** Says a text now, or after the current speech. Resolves when it was heard or interrupted. */
  say(text: string, options?: SayOptions): Promise<Said>;
  /** Answers as if the user had said this; without a text, answers the messages as they are. */
  respond(text?: string): Promise<void>;
  /** Stops the bot's speech and its running tools. */
  interrupt(): void;
  /** Makes `run` return once the current speech has been heard. */
  end(): void;
}

export interface ConversationOptions {
  stt: SpeechToText;
  llm: LanguageModel;
  tts: TextToSpeech;
  /** Keyed by the name the model calls them. @default none */
  tools?: Tools;
  context?: {
    /** Tells the model who the bot is and what it is to do; becomes the system message. */
    instructions?: string;
    /** Messages from before this conversation. */
    messages?: readonly Message[];
  };
  /** Said first. @default nothing: the user speaks first */
  greeting?: string;
  /** Said when any service fails. @default two short tones */
  apology?: string;
  /**
   * Longest wait for a service's first word or sound, and between two, in milliseconds; also about the longest
   * silence a caller hears.
   * @default 4000
   */
  serviceTimeoutMs?: number;
  turn?: TurnOptions;
  /** Turns a sentence of the model into the text that is spoken. @default removes markup and emoji */
  toSpeech?: (sentence: string) => string;
  /** How many times in a row the model may call tools before it must answer. @default 8 */
  maxSteps?: number;
}

export interface RealtimeConversationOptions {
  /** Model that hears and speaks, for instance `openai.realtime()`. */
  model: SpeechModel;
  /** Keyed by the name the model calls them. @default none */
  tools?: Tools;
  context?: {
    /** Tells the model who the bot is and what it is to do. */
    instructions?: string;
  };
  /** Said first, as nearly in these words as the model can. @default nothing: the user speaks first */
  greeting?: string;
  /** Said by `tts` when the model fails. @default two short tones */
  apology?: string;
  /** Voice of the apology, which is made ahead of time. */
  tts?: TextToSpeech;
  /**
   * Longest wait for the model, and between two pieces of an answer, in milliseconds; also about the longest
   * silence a caller hears.
   * @default 4000
   */
  serviceTimeoutMs?: number;
  /** Decides whether the caller said something that the model has not heard. @default the Silero model */
  voiceActivity?: VoiceActivity;
  /** Audio to listen to. @default transport.audioIn */
  audioIn?: AudioInput;
}

export interface TurnOptions {
  /** Speech of this length begins a turn, in milliseconds. @default 100 */
  startMs?: number;
  /** Silence of this length is a pause, at which the transcript is requested, in milliseconds. @default 200 */
  stopMs?: number;
  /** Audio kept from before the speech, in milliseconds. @default 300 */
  preRollMs?: number;
  /** Longest stretch of speech that is transcribed at once, in milliseconds. @default 60000 */
  maxStretchMs?: number;
  /** Decides how long a pause must be to end the turn. @default adaptiveSilence() */
  endOfTurn?: EndOfTurn;
  /** Ignores voices much quieter than the user's. @default true */
  volumeGate?: boolean | VolumeGateOptions;
  /**
   * Rules for interrupting the bot. With `false` nothing interrupts it, and speech over it is answered afterwards.
   */
  interruptions?: false | InterruptionOptions;
  /** Probability above which the detector takes sound for speech, from 0 to 1. @default 0.5 */
  threshold?: number;
  /** Detects speech. @default the Silero model */
  voiceActivity?: VoiceActivity;
  /** Audio to listen to. @default transport.audioIn */
  audioIn?: AudioInput;
}

export interface SayOptions {
  /** @default true */
  interruptible?: boolean;
}

export interface Said {
  /** The part of the text that was heard. */
  heard: string;
  interrupted: boolean;
}

export interface ConversationEvents {
  /** Emitted when the user has finished a turn. */
  "user-said": (turn: { text: string }) => void;
  /** Emitted when the bot has finished or was interrupted; `text` is the part that was heard. */
  "bot-said": (said: { text: string; interrupted: boolean }) => void;
  /** Emitted when the user spoke over the bot without meaning to interrupt. */
  "false-interruption": (speech: { text: string }) => void;
  /** Emitted when an answer is over, with its latencies. */
  turn: (figures: TurnFigures) => void;
  /** Emitted when a tool or a service fails; a `ServiceFailure` has `stage` and `vendor`. The log has it too. */
  error: (error: Error) => void;
}

export function checkConversationOptions(options: ConversationOptions): void {
  const of = "createConversation";
  checkOptions(of, options, {
    stt: true,
    llm: true,
    tts: true,
    tools: true,
    context: true,
    greeting: true,
    apology: true,
    serviceTimeoutMs: true,
    turn: true,
    toSpeech: true,
    maxSteps: true,
  });
  checkOptions(`context of ${of}`, options.context, { instructions: true, messages: true });
  const { turn = {} } = options;
  checkOptions(`turn of ${of}`, turn, {
    startMs: true,
    stopMs: true,
    preRollMs: true,
    maxStretchMs: true,
    endOfTurn: true,
    volumeGate: true,
    interruptions: true,
    threshold: true,
    voiceActivity: true,
    audioIn: true,
  });
  if (typeof turn.volumeGate === "object")
    checkOptions(`turn.volumeGate of ${of}`, turn.volumeGate, { belowDb: true, minDbfs: true });
  if (turn.interruptions)
    checkOptions(`turn.interruptions of ${of}`, turn.interruptions, {
      minWords: true,
      minSpeechMs: true,
      certainMs: true,
      backChannels: true,
    });
}

export function checkRealtimeConversationOptions(options: RealtimeConversationOptions): void {
  const of = "createRealtimeConversation";
  checkOptions(of, options, {
    model: true,
    tools: true,
    context: true,
    greeting: true,
    apology: true,
    tts: true,
    serviceTimeoutMs: true,
    voiceActivity: true,
    audioIn: true,
  });
  if (options.apology !== undefined && !options.tts)
    throw new TypeError(`apology of ${of} needs a tts that says it.`);
  checkOptions(`context of ${of}`, options.context, { instructions: true });
}
