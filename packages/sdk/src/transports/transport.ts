import type { AudioFrame } from "@vocalhost/audio";
import type { BotCapabilities, Invitation } from "@vocalhost/protocol";
import type { AudioFilter } from "../filters/audio-filter.ts";
import type { RtviSession } from "../rtvi/rtvi-session.ts";
import type { DtmfInput } from "./dtmf-input.ts";
import type { PhoneCall } from "./phone-call.ts";

/** How a bot hears and speaks, the same over every kind of connection. */
export interface Transport extends AsyncDisposable {
  readonly sessionId: string;
  /** What the user says, in frames of 20 ms. Ends when the client is gone or the session is stopped. */
  readonly audioIn: AudioInput;
  /** What the bot says: played at real time, can be cut short. */
  readonly audioOut: AudioOutput;
  /** Conversation events to and from client applications. */
  readonly rtvi: RtviSession;
  /** Messages as they are, without the RTVI envelope's meaning. */
  readonly messages: MessageChannelLike;
  /** Keys pressed on the user's phone or client. */
  readonly dtmf: DtmfInput;
  /** Who else is there; undefined unless the session is in a room. */
  readonly room: RoomSide | undefined;
  /** Transfers, hangs up, presses keys; undefined unless the session is a phone call over a carrier's stream. */
  readonly call: PhoneCall | undefined;
  /** Aborts when the client is gone, the session is stopped or its time is up, with a `SessionEnded` as reason. */
  readonly signal: AbortSignal;
  on<E extends keyof TransportEvents>(event: E, listener: TransportEvents[E]): void;
  off<E extends keyof TransportEvents>(event: E, listener: TransportEvents[E]): void;
  /** Ends the connection; queued audio is dropped. Called for you when `bot` settles. */
  close(): Promise<void>;
}

/** The room a bot is in. */
export interface RoomSide {
  readonly name: string;
  /** Everybody but the bot itself. */
  readonly participants: readonly RoomParticipant[];
  on<E extends keyof RoomSideEvents>(event: E, listener: RoomSideEvents[E]): void;
  off<E extends keyof RoomSideEvents>(event: E, listener: RoomSideEvents[E]): void;
  /** What one more person or bot needs to join. Throws when nobody more may come. */
  invite(): Invitation;
  /** Calls somebody's phone into the room, over a LiveKit server's SIP trunk. Resolves when they have answered. */
  dial(to: string, options?: DialOptions): Promise<DialledParticipant>;
}

export interface DialOptions {
  /** Who they are in the room. @default `sip_` and the number */
  identity?: string;
  /** What others see. @default the number */
  name?: string;
}

export interface DialledParticipant {
  /** As `participant-joined` has it. */
  identity: string;
}

export interface RoomSideEvents {
  "participant-joined": (participant: RoomParticipant) => void;
  "participant-left": (participant: RoomParticipant) => void;
}

export interface RoomParticipant {
  readonly identity: string;
  readonly name: string;
  readonly isBot: boolean;
  /** What the server knows of them; of a phone call `sip.phoneNumber` and the like. */
  readonly attributes: Readonly<Record<string, string>>;
  /** What only they say; undefined unless `room.hear` is `"each"`. */
  readonly audioIn: AudioInput | undefined;
}

export interface TransportEvents {
  "client-connected": () => void;
  "client-disconnected": () => void;
  /** The client has cut the bot short by itself; what was queued is gone. Only plain WebSockets have a frame for it. */
  "client-interrupted": () => void;
  /** Audio was thrown away; told at once, then at most every second. The log has it too. */
  "audio-dropped": (drop: AudioDrop) => void;
}

/** Reading begins at now: what came while no loop read is gone, but for the first seconds, which wait for the first loop. */
export interface AudioInput extends AsyncIterable<AudioFrame> {
  readonly sampleRateHz: number;
  /** Frames thrown away, oldest first, because the bot did not read them in time. */
  readonly droppedFrames: number;
  /** Forgets what has not been read yet: a loop that fell behind goes on with what is said now. */
  flush(): void;
  /**
   * The same audio for one more reader: what this one has not read yet and all that follows, in frames of its own,
   * whether or not a loop reads it by then. Bounded like this one unless you say otherwise. Dispose of it when nobody
   * reads it any more.
   */
  tee(options?: { maxQueuedMs?: number }): AudioInputBranch;
}

export interface AudioInputBranch extends AudioInput, Disposable {}

export interface AudioDrop {
  /** `audioIn`: the bot did not read in time. `audioOut`: it wrote more than fits, or its last words took too long. */
  where: "audioIn" | "audioOut";
  ms: number;
}

export interface AudioOutput {
  readonly sampleRateHz: number;
  /** Milliseconds of audio accepted and not yet played. */
  readonly queuedMs: number;
  /** Milliseconds of this utterance that have been heard; the next write begins at `playedMs + queuedMs`. */
  readonly playedMs: number;
  readonly isPaused: boolean;
  /** Milliseconds thrown away because the queue was full, or because last words took too long. */
  readonly droppedMs: number;
  /**
   * Queues a copy of audio of any length and rate: the samples stay yours. False means: more than enough is queued, `await ready()`
   * before writing on. Beyond the cap what does not fit is dropped.
   */
  write(frame: AudioFrame): boolean;
  /** Resolves when there is space again, at once if there is. */
  ready(options?: WaitOptions): Promise<void>;
  /** Forgets everything not yet played, which an interruption needs, and says what was heard. Ends a pause. */
  clear(): Playback;
  /** Holds the bot's voice back, for somebody who may mean to interrupt; what is queued is kept. */
  pause(): void;
  /** Goes on where `pause` stopped. */
  resume(): void;
  /** Resolves when everything written before the call has been played, or was cleared. */
  drained(options?: WaitOptions): Promise<Playback>;
  on(event: "started" | "stopped", listener: () => void): void;
  off(event: "started" | "stopped", listener: () => void): void;
}

/**
 * How far an utterance has come. One begins with the first write after a `clear`, or after a `drained` that said
 * that everything was played.
 */
export interface Playback {
  /** As far as the other side tells: to the piece of 20 or 40 ms, on the phone to what the carrier has played. */
  readonly playedMs: number;
  /** Something was written and will not be heard. */
  readonly interrupted: boolean;
}

export interface WaitOptions {
  signal?: AbortSignal;
  timeoutMs?: number;
}

export interface MessageChannelLike {
  send(message: unknown): void;
  onMessage(listener: (message: unknown) => void): void;
}

export type RoomHearing = "everyone" | "all" | "each" | { only: string };

export interface TransportOptions {
  audioIn?: {
    /** @default 16000 */
    sampleRateHz?: number;
    /** Runs over everything the bot hears. When it fails, audio passes untouched and the call goes on. */
    filter?: AudioFilter;
    /** Oldest frames are dropped beyond this. @default 10000 */
    maxQueuedMs?: number;
  };
  audioOut?: {
    /** @default 24000 */
    sampleRateHz?: number;
    /** Newest audio is dropped beyond this. @default 60000 */
    maxQueuedMs?: number;
    /** How long what is still queued may take to be heard when the bot has returned. @default 10000 */
    lastWordsMs?: number;
  };
  /** For sessions in a room. */
  room?: {
    /**
     * Whom `audioIn` hears: every person mixed, `"all"` with bots, or one participant only. `"each"` gives every
     * participant an `audioIn` of their own as well.
     * @default "everyone"
     */
    hear?: RoomHearing;
    /** Go on when the last person has left. @default false */
    stay?: boolean;
    /** How long the session waits for somebody to come back after the last person has left. @default 5000 */
    departureTimeoutMs?: number;
  };
  /**
   * End the session as `idle` when for so long nobody speaks, presses a key or sends a message; null: never.
   * @default args.pipelineIdleTimeoutSecs, which is 300 unless the runner was told otherwise
   */
  idleTimeoutSecs?: number | null;
  /** For phone calls. */
  call?: {
    /** Hang up when the bot returns; else the call goes on with the carrier's next instruction. @default true */
    hangUpOnReturn?: boolean;
  };
  rtvi?: {
    /** Answer `client-ready` with `bot-ready` automatically. @default true */
    autoReady?: boolean;
    /** What `bot-ready` tells clients that the bot can do beside talking. @default nothing */
    capabilities?: BotCapabilities;
    /** Tell clients how loud user and bot are, every 150 ms. @default false */
    levels?: boolean;
  };
}
