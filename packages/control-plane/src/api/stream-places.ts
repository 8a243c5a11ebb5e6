import { AppError } from "@vocalhost/protocol";
import type { ServerResponse } from "node:http";
import type { OrganizationId } from "../identity/principal.ts";

/** So many at once and no more, and half of them at most for one organisation: others want to look, too. */
export interface Places {
  /** Refuses when all are taken. Giving a place back twice is fine. */
  take(organizationId: OrganizationId): Disposable;
  /** A place for as long as somebody reads this answer; the signal aborts when nobody does any more. */
  takeFor(organizationId: OrganizationId, answer: Pick<ServerResponse, "once" | "destroyed">): AbortSignal;
}

export function createPlaces({ max, refusal }: { max: number; refusal: string }): Places {
  const taken = new Map<Disposable, OrganizationId>();

  function take(organizationId: OrganizationId): Disposable {
    const own = [...taken.values()].filter((each) => each === organizationId).length;
    if (taken.size >= max || own >= Math.ceil(max / 2))
      throw new AppError("SERVICE_UNAVAILABLE", { message: refusal });
    const place = { [Symbol.dispose]: () => void taken.delete(place) };
    taken.set(place, organizationId);
    return place;
  }

  return {
    take,
    takeFor(organizationId, answer) {
      const place = take(organizationId);
      const gone = new AbortController();
      const leave = (): void => {
        place[Symbol.dispose]();
        gone.abort();
      };
      answer.once("close", leave);
      if (answer.destroyed) leave(); // it was closed before, and nobody will tell us again
      return gone.signal;
    },
  };
}
