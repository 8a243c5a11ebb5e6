/** The client of a session, whichever door it came through. */
export interface Client {
  /** The client's own identifier, if any: a browser's newest peer, a carrier's call. */
  readonly id: string | undefined;
  readonly isConnected: boolean;
  /** Adds a listener for each connect from now on. */
  onConnected(listener: () => void): void;
  /** Reports the bot's failure before closing; otherwise it would look like a bot that hung up. */
  botFailed?(): void;
  close(): void;
  /** Resolves when everything sent to the client has left. */
  closed(): Promise<void>;
}
