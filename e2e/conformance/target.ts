/** A service to hold against the released clients. */
export interface TargetDefinition {
  name: string;
  /** False runs the short form: a conversation begins, is heard both ways and ends. @default true */
  isWhole?: boolean;
  /** Starts the service with `e2e/bots/conformance-bot.ts` behind it. */
  open(options: TargetOptions): Promise<Target>;
}

export interface TargetOptions {
  /** Web origin the clients come from. */
  pageOrigin: string;
}

export interface Target extends AsyncDisposable {
  /** Where clients post their start request. */
  readonly startUrl: string;
  /** Go with every request of a client, for instance a public key. */
  readonly headers?: Record<string, string>;
  /** Where sessions are started whose WebSockets need a token, if there is such a place. */
  readonly tokenStartUrl?: string;
  /** Where an offer is taken without a start, if there is such a place. */
  readonly bareOfferUrl?: string;
  /**
   * Connection options for the client, when a start answer has more fields than its transport takes.
   * @default the answer itself
   */
  toConnection?(answer: unknown): unknown;
  /** Resolves with the reason when the session has ended; rejects when the time is up. */
  sessionEnded(sessionId: string, timeoutMs: number): Promise<string>;
  /** Warnings and errors the service has logged. */
  problems(): Promise<string[]>;
}
