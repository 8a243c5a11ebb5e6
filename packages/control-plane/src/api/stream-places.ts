import { AppError } from "@vocalhost/protocol";
import type { ServerResponse } from "node:http";
import type { OrganizationId } from "../identity/principal.ts";

/** Limits concurrent streams, with at most half of them for one organisation. */
export interface Places {
  /** Throws if no place is free. Disposing twice is safe. */
  take(organizationId: OrganizationId): Disposable;
  /** Takes a place until the answer closes, when the signal aborts. */
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
      if (answer.destroyed) leave(); // it closed earlier, and "close" will not be emitted again
      return gone.signal;
    },
  };
}
