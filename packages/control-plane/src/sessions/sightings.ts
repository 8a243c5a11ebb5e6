import type { SessionRow } from "@vocalhost/store/schema";

/**
 * How long sessions last as this controller sees it, on its own monotonic clock. A bot's process tells the length of
 * its session, and can tell anything: what was seen bounds it.
 */
export interface Sightings {
  bound(sessionId: string, atMs: number): void;
  /** The session was on at this moment. */
  alive(session: SightedSession, atMs: number): void;
  /** From its binding; null when it was never seen. What controllers before us saw counts, the time between does not. */
  atLeastMs(session: SightedSession): number | null;
  /** The same of a session that was seen to be over; null unless it was this controller that bound it. */
  atMostMs(sessionId: string, overAtMs: number): number | null;
  /** Forgets those that are over. */
  keepOnly(sessionIds: ReadonlySet<string>): void;
}

export type SightedSession = Pick<SessionRow, "id" | "startMs" | "observedMs">;

interface Sighting {
  boundMs: number | undefined;
  /** What is certain before `firstMs`. */
  baseMs: number;
  firstMs: number;
  lastMs: number;
  wasKept: boolean;
}

export function createSightings(): Sightings {
  const sightings = new Map<string, Sighting>();
  return {
    bound(sessionId, atMs) {
      const wasKept = false; // its row is yet to be written
      sightings.set(sessionId, { boundMs: atMs, baseMs: 0, firstMs: atMs, lastMs: atMs, wasKept });
    },
    alive(session, atMs) {
      const sighting = sightings.get(session.id);
      if (sighting) sighting.lastMs = Math.max(sighting.lastMs, atMs);
      else
        sightings.set(session.id, {
          boundMs: undefined,
          baseMs: session.observedMs ?? session.startMs ?? 0,
          firstMs: atMs,
          lastMs: atMs,
          wasKept: true,
        });
    },
    atLeastMs({ id, observedMs }) {
      const sighting = sightings.get(id);
      return sighting ? sighting.baseMs + sighting.lastMs - sighting.firstMs : observedMs;
    },
    atMostMs(sessionId, overAtMs) {
      const boundMs = sightings.get(sessionId)?.boundMs;
      return boundMs === undefined ? null : overAtMs - boundMs;
    },
    keepOnly(sessionIds) {
      for (const [id, sighting] of sightings)
        if (sessionIds.has(id)) sighting.wasKept = true;
        else if (sighting.wasKept) sightings.delete(id);
    },
  };
}
