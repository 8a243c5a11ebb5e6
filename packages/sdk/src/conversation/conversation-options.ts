import { checkOptions } from "../check-options.ts";
import type { Listeners } from "../listeners.ts";
import type { EndOfTurn } from "../speech/end-of-turn.ts";
import type { VoiceActivity } from "../speech/voice-activity.ts";
import type { VolumeGateOptions } from "../speech/volume-gate.ts";
import type { AudioInput, Transport } from "../transports/transport.ts";
import type { InterruptionOptions } from "./barge-in.ts";
import type { TurnFigures } from "./figures.ts";
import type { LanguageModel, Message, SpeechToText, TextToSpeech } from "./services.ts";
import type { Tools } from "./tool.ts";

/** A user and a bot who listen to each other, answer, interrupt and use tools. */
export interface Conversation extends Pick<Listeners<ConversationEvents>, "on" | "off"> {
  readonly transport: Transport;
  /** What the model is told. What the bot said is in it as far as it was heard. Add to it as you like. */
  readonly messages: Message[];
  /** Whether an answer is being thought of or said. */
  readonly isAnswering: boolean;
  /** Talks until the session ends or `end` is called. Call once. */
  run(): Promise<void>;
  /** Says something now, or after what is being said. Resolves when it was heard, or was interrupted. */
  say(text: string, options?: SayOptions): Promise<Said>;
  /** Answers, as if the user had said this; without a text, what the messages are. */
  respond(text?: string): Promise<void>;
  /** Stops what the bot is saying and doing. */
  interrupt(): void;
  /** Makes `run` return once what is being said has been heard. */
  end(): void;
}

export interface ConversationOptions {
  stt: SpeechToText;
  llm: LanguageModel;
  tts: TextToSpeech;
  /** By the name the model calls them. @default none */
  tools?: Tools;
  context?: {
    /** Who the bot is and what it is to do; the first message, of the system. */
    instructions?: string;
    /** What was said before this conversation. */
    messages?: readonly Message[];
  };
  /** Said first. @default nothing: the user speaks first */
  greeting?: string;
  /** Said when a service fails, whichever it is. @default two short tones */
  apology?: string;
  /** Longest wait for a service's first word or sound, and between two; about as long a caller hears nothing at most. @default 4000 */
  serviceTimeoutMs?: number;
  turn?: TurnOptions;
  /** What is spoken of a sentence of the model. @default without markup and pictures */
  toSpeech?: (sentence: string) => string;
  /** How often the model may use tools before it must answer. @default 8 */
  maxSteps?: number;
}

export interface TurnOptions {
  /** Speech that begins a turn. @default 100 */
  startMs?: number;
  /** Silence that is a pause, at which the text is asked for. @default 200 */
  stopMs?: number;
  /** Audio kept from before the speech. @default 300 */
  preRollMs?: number;
  /** Longest stretch of speech that is transcribed at once. @default 60000 */
  maxStretchMs?: number;
  /** How long a pause must be to be the end. @default adaptiveSilence() */
  endOfTurn?: EndOfTurn;
  /** Leaves out voices much quieter than the user's. @default on */
  volumeGate?: boolean | VolumeGateOptions;
  /** What interrupts the bot; `false`: nothing does, and what was said meanwhile is answered afterwards. */
  interruptions?: false | InterruptionOptions;
  /** How sure the detector must be that this is speech, from 0 to 1. @default 0.5 */
  threshold?: number;
  /** Decides what is speech. @default the Silero model */
  voiceActivity?: VoiceActivity;
  /** What to listen to. @default transport.audioIn */
  audioIn?: AudioInput;
}

export interface SayOptions {
  /** @default true */
  interruptible?: boolean;
}

export interface Said {
  /** What was heard of it. */
  heard: string;
  interrupted: boolean;
}

export interface ConversationEvents {
  /** The user has finished a turn. */
  "user-said": (turn: { text: string }) => void;
  /** The bot has finished, or was interrupted; `text` is what was heard. */
  "bot-said": (said: { text: string; interrupted: boolean }) => void;
  /** The user spoke while the bot did, and did not mean to interrupt. */
  "false-interruption": (speech: { text: string }) => void;
  /** An answer is over; how long everything took. */
  turn: (figures: TurnFigures) => void;
  /** A service (a `ServiceFailure`, with `stage` and `vendor`) or a tool failed. The log has it too. */
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
