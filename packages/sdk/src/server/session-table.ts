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

/** All sessions that wait for their client or run. Ended ones are removed. */
export interface SessionTable {
  create(options: NewSession): Session;
  get(id: string): Session | undefined;
  /** Returns the session of one of these transports whose client has this id. */
  ofClient(transports: readonly TransportName[], clientId: string): Session | undefined;
  readonly size: number;
  list(): Session[];
  /** Adds a listener for sessions that are created, start running or end. */
  onChange(listener: () => void): void;
  /** Ends all sessions and resolves when they have ended. */
  endAll(): Promise<void>;
}

export interface NewSession {
  transport: TransportName;
  body: unknown;
  /** @default a new one */
  id?: string;
  /** @default the table's */
  connectDeadlineMs?: number;
  marked?(mark: keyof SessionMarks): void;
  ended?(reason: EndReason): void;
}

const SESSIONS_MAX = 1_000; // far beyond the capacity of one process; bounds memory against floods of starts
const CLIENT_CONNECT_MS = 120_000; // bounds how long an unused start is kept

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
