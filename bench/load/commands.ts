/** Commands of a benchmark to a load process, and their answers; one answer per command. */
export type LoadCommand =
  | { type: "add"; count: number }
  | { type: "remove"; count: number }
  /** Forgets what was counted so far. */
  | { type: "restart" }
  | { type: "report" };

export interface LoadAnswer {
  sessions: number;
  /** How late the load itself was, in ms: beyond a few it is the load that is measured. */
  lateMs: number[];
  sent: number;
  received: number;
  /** Time between two packets or chunks of one session, in ms; only if it was told to listen. */
  gapsMs: number[];
  connectMs: number[];
  /** Under which the server speaks to them. */
  serverSsrcs: number[];
}

export interface LoadSettings {
  url: string;
  /** Silence after each sentence; 0 is a caller who never stops talking. */
  pauseMs: number;
  /** Note when packets arrive, which costs the load process a callback each. */
  listen: boolean;
  /** Only for participants of a room: its key, and how many of them speak. */
  room?: { apiKey: string; apiSecret: string; speakers: number };
}
