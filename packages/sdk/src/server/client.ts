/** Who the bot talks with, as a session sees them: whichever door they came through. */
export interface Client {
  /** What they call themselves, if they do: a browser's newest peer, a carrier's call. */
  readonly id: string | undefined;
  readonly isConnected: boolean;
  /** Called each time they connect from now on. */
  onConnected(listener: () => void): void;
  /** Tells them so before anything is closed; without it a broken bot looks like one that hung up. */
  botFailed?(): void;
  close(): void;
  /** Resolves when nothing of ours is still on its way to them. */
  closed(): Promise<void>;
}
