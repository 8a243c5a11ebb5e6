import type { AudioFrame } from "@vocalhost/audio";
import type { BotCapabilities, Invitation } from "@vocalhost/protocol";
import type { AudioFilter } from "../filters/audio-filter.ts";
import type { RtviSession } from "../rtvi/rtvi-session.ts";
import type { DtmfInput } from "./dtmf-input.ts";
import type { PhoneCall } from "./phone-call.ts";

/** The connection through which a bot hears and speaks. It has the same interface for every kind of client. */
export interface Transport extends AsyncDisposable {
  readonly sessionId: string;
  /** The user's audio in frames of 20 ms. Ends when the client is gone or the session is stopped. */
  readonly audioIn: AudioInput;
  /** The bot's audio, played in real time; it can be cut short. */
  readonly audioOut: AudioOutput;
  /** Conversation events to and from client applications. */
  readonly rtvi: RtviSession;
  /** Raw messages of the client, RTVI or not. */
  readonly messages: MessageChannelLike;
  /** Keys pressed on the user's phone or client. */
  readonly dtmf: DtmfInput;
  /** The other participants; undefined unless the session is in a room. */
  readonly room: RoomSide | undefined;
  /** Transfers, hangs up and presses keys; undefined unless the session is a phone call over a carrier's stream. */
  readonly call: PhoneCall | undefined;
  /** Aborts when the client is gone, the session is stopped or its time is up. Its reason is a `SessionEnded`. */
  readonly signal: AbortSignal;
  on<E extends keyof TransportEvents>(event: E, listener: TransportEvents[E]): void;
  off<E extends keyof TransportEvents>(event: E, listener: TransportEvents[E]): void;
  /** Ends the connection and drops queued audio. Called automatically when `bot` settles. */
  close(): Promise<void>;
}

/** The room a bot is in. */
export interface RoomSide {
  readonly name: string;
  /** All participants except the bot itself. */
  readonly participants: readonly RoomParticipant[];
  on<E extends keyof RoomSideEvents>(event: E, listener: RoomSideEvents[E]): void;
  off<E extends keyof RoomSideEvents>(event: E, listener: RoomSideEvents[E]): void;
  /** Returns address and token for one more person or bot. Throws when no more may join. */
  invite(): Invitation;
  /** Calls a phone into the room, over a LiveKit server's SIP trunk. Resolves when the call is answered. */
  dial(to: string, options?: DialOptions): Promise<DialledParticipant>;
}

export interface DialOptions {
  /** Identity in the room. @default `sip_` and the number */
  identity?: string;
  /** Name shown to others. @default the number */
  name?: string;
}

export interface DialledParticipant {
  /** The identity of the participant in `participant-joined`. */
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
  /** Attributes from the server; for a phone call `sip.phoneNumber` and others. */
  readonly attributes: Readonly<Record<string, string>>;
  /** This participant's audio alone; undefined unless `room.hear` is `"each"`. */
  readonly audioIn: AudioInput | undefined;
}

export interface TransportEvents {
  "client-connected": () => void;
  "client-disconnected": () => void;
  /**
   * Emitted when the client has cut the bot short by itself and dropped queued audio. Only plain WebSockets
   * support it.
   */
  "client-interrupted": () => void;
  /** Emitted when audio was dropped, at once and then at most every second. The log has it too. */
  "audio-dropped": (drop: AudioDrop) => void;
}

/**
 * Audio for the bot. A loop begins with current audio; earlier audio is dropped, except that the first seconds
 * wait for the first loop.
 */
export interface AudioInput extends AsyncIterable<AudioFrame> {
  readonly sampleRateHz: number;
  /** Number of frames dropped, oldest first, because the bot did not read them in time. */
  readonly droppedFrames: number;
  /** Drops unread audio, so that a slow loop continues with current audio. */
  flush(): void;
  /**
   * Returns the same audio for another reader: the unread frames and all that follow, whether or not a loop reads
   * it yet. Its queue has the same cap unless you set one. Dispose of it when it is no longer read.
   */
  tee(options?: { maxQueuedMs?: number }): AudioInputBranch;
}

export interface AudioInputBranch extends AudioInput, Disposable {}

export interface AudioDrop {
  /**
   * `audioIn`: the bot did not read in time. `audioOut`: it wrote more than fits, or its last words took too long.
   */
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
  /** Milliseconds dropped because the queue was full, or because the last words took too long. */
  readonly droppedMs: number;
  /**
   * Queues a copy of audio of any length and rate. Returns false when more than 2 s are queued: `await ready()`
   * before writing more. Audio beyond the cap is dropped.
   */
  write(frame: AudioFrame): boolean;
  /** Resolves when there is space again; at once if there is. */
  ready(options?: WaitOptions): Promise<void>;
  /** Drops all audio not yet played, for an interruption, and returns what was heard. Ends a pause. */
  clear(): Playback;
  /** Pauses playback, for instance while a user may be interrupting; queued audio is kept. */
  pause(): void;
  /** Continues where `pause` stopped. */
  resume(): void;
  /** Resolves when everything written before the call has been played or cleared. */
  drained(options?: WaitOptions): Promise<Playback>;
  on(event: "started" | "stopped", listener: () => void): void;
  off(event: "started" | "stopped", listener: () => void): void;
}

/**
 * Progress of an utterance. One begins with the first write after a `clear`, or after a `drained` that reported
 * that everything was played.
 */
export interface Playback {
  /** As reported by the other side: accurate to 20 or 40 ms, on the phone to the carrier's last mark. */
  readonly playedMs: number;
  /** Whether some written audio will not be heard. */
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
    /** Sample rate in Hz. @default 16000 */
    sampleRateHz?: number;
    /** Filters everything the bot hears. If it fails, audio passes unfiltered and the call continues. */
    filter?: AudioFilter;
    /** Oldest frames are dropped beyond this. @default 10000 */
    maxQueuedMs?: number;
  };
  audioOut?: {
    /** Sample rate in Hz. @default 24000 */
    sampleRateHz?: number;
    /** Newest audio is dropped beyond this. @default 60000 */
    maxQueuedMs?: number;
    /** Longest time to play queued audio after the bot has returned. @default 10000 */
    lastWordsMs?: number;
  };
  /** Settings of sessions in a room. */
  room?: {
    /**
     * Participants that `audioIn` hears: all people mixed, `"all"` with bots, or one participant only. With
     * `"each"`, every participant also has an `audioIn` of their own.
     * @default "everyone"
     */
    hear?: RoomHearing;
    /** Continue when the last person has left. @default false */
    stay?: boolean;
    /** How long the session waits for a person to come back after the last one has left. @default 5000 */
    departureTimeoutMs?: number;
  };
  /**
   * Ends the session as `idle` after this many seconds without speech, keys or messages; null: never.
   * @default args.pipelineIdleTimeoutSecs, which is 300 unless the runner sets another
   */
  idleTimeoutSecs?: number | null;
  /** Settings of phone calls. */
  call?: {
    /**
     * Hang up when the bot returns; otherwise the call continues with the carrier's next instruction.
     * @default true
     */
    hangUpOnReturn?: boolean;
  };
  rtvi?: {
    /** Answer `client-ready` with `bot-ready` automatically. @default true */
    autoReady?: boolean;
    /** Capabilities that `bot-ready` reports to clients. @default none */
    capabilities?: BotCapabilities;
    /** Send the volume of user and bot to clients, every 150 ms. @default false */
    levels?: boolean;
  };
}
