import type { SessionRow } from "@vocalhost/store/schema";

/**
 * How long sessions last as this controller sees it, on its own monotonic clock. A bot's process tells the length of
 * its session, and can tell anything: what was seen bounds it.
 */
export interface LastSeen {
  bound(sessionId: string, atMs: number): void;
  /** The session was on at this moment. */
  alive(session: SightedSession, atMs: number): void;
  /** Its length since it was bound; null if it was never seen. Time that an earlier controller saw counts, gaps do not. */
  atLeastMs(session: SightedSession): number | null;
  /** The longest that a session which is over can have lasted; null unless this controller bound it. */
  atMostMs(sessionId: string, overAtMs: number): number | null;
  /** Forgets those that are over. */
  keepOnly(sessionIds: ReadonlySet<string>): void;
}

export type SightedSession = Pick<SessionRow, "id" | "startMs" | "observedMs">;

interface Seen {
  boundMs: number | undefined;
  /** The length that is certain before `firstMs`. */
  baseMs: number;
  firstMs: number;
  lastMs: number;
  wasKept: boolean;
}

export function createLastSeen(): LastSeen {
  const lastSeen = new Map<string, Seen>();
  return {
    bound(sessionId, atMs) {
      const wasKept = false; // its row is yet to be written
      lastSeen.set(sessionId, { boundMs: atMs, baseMs: 0, firstMs: atMs, lastMs: atMs, wasKept });
    },
    alive(session, atMs) {
      const seen = lastSeen.get(session.id);
      if (seen) seen.lastMs = Math.max(seen.lastMs, atMs);
      else
        lastSeen.set(session.id, {
          boundMs: undefined,
          baseMs: session.observedMs ?? session.startMs ?? 0,
          firstMs: atMs,
          lastMs: atMs,
          wasKept: true,
        });
    },
    atLeastMs({ id, observedMs }) {
      const seen = lastSeen.get(id);
      return seen ? seen.baseMs + seen.lastMs - seen.firstMs : observedMs;
    },
    atMostMs(sessionId, overAtMs) {
      const boundMs = lastSeen.get(sessionId)?.boundMs;
      return boundMs === undefined ? null : overAtMs - boundMs;
    },
    keepOnly(sessionIds) {
      for (const [id, seen] of lastSeen)
        if (sessionIds.has(id)) seen.wasKept = true;
        else if (seen.wasKept) lastSeen.delete(id);
    },
  };
}
