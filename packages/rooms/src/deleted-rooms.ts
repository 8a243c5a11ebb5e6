/** When rooms were deleted, for as long as tokens from before may be valid. */
export interface DeletedRooms {
  add(name: string): void;
  /** Unix seconds. */
  atS(name: string): number | undefined;
}

const KEPT_S = 6 * 3_600; // as long as tokens are valid that do not say how long
const KEPT_MAX = 50_000;

export function createDeletedRooms(nowMs: () => number = Date.now): DeletedRooms {
  const rooms = new Map<string, number>(); // oldest first
  return {
    add(name) {
      const nowS = Math.trunc(nowMs() / 1000);
      rooms.delete(name);
      rooms.set(name, nowS);
      for (const [known, atS] of rooms) {
        if (rooms.size <= KEPT_MAX && atS > nowS - KEPT_S) break;
        rooms.delete(known);
      }
    },
    atS: (name) => rooms.get(name),
  };
}
