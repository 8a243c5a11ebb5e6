import {
  AppError,
  newSessionId,
  type SessionId,
  type SessionMarks,
  type TransportName,
} from "@vocalhost/protocol";
import type { Log } from "../log.ts";
import type { EndReason } from "../transports/session-hooks.ts";
import { createSession, type Session } from "./session.ts";

/** Every session that is waiting for its client or running. Ended ones are gone. */
export interface SessionTable {
  create(options: NewSession): Session;
  get(id: string): Session | undefined;
  /** The session of one of these transports whose client calls itself this. */
  ofClient(transports: readonly TransportName[], clientId: string): Session | undefined;
  readonly size: number;
  list(): Session[];
  /** Called whenever a session was made, began to run or ended. */
  onChange(listener: () => void): void;
  /** Ends all of them and resolves when they have ended. */
  endAll(): Promise<void>;
}

export interface NewSession {
  transport: TransportName;
  body: unknown;
  /** @default a new one */
  id?: string;
  /** @default that of the table */
  connectDeadlineMs?: number;
  marked?(mark: keyof SessionMarks): void;
  ended?(reason: EndReason): void;
}

const SESSIONS_MAX = 1_000; // far beyond what one process can carry; bounds what callers can make us remember
const CLIENT_CONNECT_MS = 120_000; // a start that no client follows up must not be kept

export function createSessionTable(log: Log, connectDeadlineMs: number = CLIENT_CONNECT_MS): SessionTable {
  const sessions = new Map<string, Session>();
  const listeners: (() => void)[] = [];
  const changed = (): void => listeners.forEach((listener) => listener());

  function find(isWanted: (session: Session) => boolean): Session | undefined {
    for (const session of sessions.values()) if (isWanted(session)) return session;
    return undefined;
  }

  return {
    create({ transport, body, marked, ended, ...options }) {
      if (sessions.size >= SESSIONS_MAX) throw new AppError("TOO_MANY_SESSIONS");
      const id = (options.id as SessionId | undefined) ?? newSessionId();
      const session = createSession({
        id,
        transport,
        body: body ?? {},
        log: log.child({ sessionId: id }),
        connectDeadlineMs: options.connectDeadlineMs ?? connectDeadlineMs,
        marked(mark) {
          if (mark === "botEntered") changed();
          marked?.(mark);
        },
        ended(reason) {
          sessions.delete(id);
          changed();
          ended?.(reason);
        },
      });
      sessions.set(id, session);
      changed();
      return session;
    },
    get: (id) => sessions.get(id),
    ofClient: (transports, clientId) =>
      find(({ transport, client }) => transports.includes(transport) && client?.id === clientId),
    get size() {
      return sessions.size;
    },
    list: () => [...sessions.values()],
    onChange: (listener) => void listeners.push(listener),
    async endAll() {
      await Promise.all([...sessions.values()].map((session) => session.end("shutdown")));
    },
  };
}
