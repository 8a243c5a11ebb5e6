import type { FilterAddress } from "./filter-remote.ts";

/** Starts sessions for a page: the runner it came from, or the hosted service. */
export interface BotServer {
  /** `POST` here starts a session. */
  readonly startUrl: string;
  /** Sent with the start. @default none */
  readonly startHeaders?: Record<string, string>;
  /** Fields of the start request besides the transport and the body. */
  readonly startRequest?: Record<string, unknown>;
  /** Told to the carrier of a simulated call. */
  readonly callParameters?: Record<string, string>;
  /** Where a WebRTC session takes offers, and with which headers. @default beside `startUrl`, without any */
  offerTo?(answer: unknown): { url: string; headers: Record<string, string> } | undefined;
  /** Where the voice filter of a session is found; undefined where it cannot be reached. */
  filterAt(answer: unknown): FilterAddress | undefined;
  /** The answer of a start that was made for this page before it was opened; given once. */
  takeStarted?(transport: unknown): object | undefined;
  /** Whether it answers at all. */
  isThere(): Promise<boolean>;
}
