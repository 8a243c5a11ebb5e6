import type { Transport } from "@pipecat-ai/client-js";
import type { LinkSample } from "../figures/link-figures.ts";
import type { MicrophoneMedia } from "../media/microphone-media.ts";
import type { BotServer } from "./bot-server.ts";
import type { Attendee, ReceivedMessage } from "../events/connection-event.ts";
import type { ProblemCode } from "../events/problem.ts";

/** One way to reach a bot: a client transport with its media, and what the page wants to know of it. */
export interface Link {
  readonly transport: Transport;
  readonly media: MicrophoneMedia & { readonly botMeter: AnalyserNode | undefined };
  /** The request to `POST /start`, without `body`. */
  readonly startRequest: Record<string, unknown>;
  /** The problem to show if no connection is made. */
  readonly failure: ProblemCode;
  /** Turns the answer of `POST /start` into what the transport accepts. */
  toConnectParams(answer: unknown, server: BotServer): unknown;
  playBot(track: MediaStreamTrack): void;
  /** Makes sure that what is played is what arrives now; asked again and again. */
  followBot(): void;
  /** The user clicked after the browser had refused to play sound. */
  resumePlayback(): void;
  handleMessage(message: ReceivedMessage): void;
  /** The microphone moved to another device. */
  sendMicrophone(): Promise<void>;
  /** The other side has hung up without a word. */
  isHungUp(): boolean;
  /** The network is gone for the moment; the transport is trying to get it back. */
  isInterrupted(): boolean;
  sample(atMs: number): Promise<LinkSample>;
  /** Lets go of what may still open after the session was given up. */
  abandon(): void;
}

export interface LinkOptions {
  useMicrophone: boolean;
  microphoneId: string | undefined;
  speakerId: string | undefined;
  onPlaybackBlocked: () => void;
  /** The participants of the room, if there is one. */
  onAttendees: (attendees: Attendee[]) => void;
}
