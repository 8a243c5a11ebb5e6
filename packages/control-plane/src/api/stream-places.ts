import { AppError } from "@vocalhost/protocol";
import type { ServerResponse } from "node:http";

/** So many at once and no more. */
export interface Places {
  /** Refuses when all are taken. Giving a place back twice is fine. */
  take(): Disposable;
  /** A place for as long as somebody reads this answer; the signal aborts when nobody does any more. */
  takeFor(answer: Pick<ServerResponse, "once" | "destroyed">): AbortSignal;
}

export function createPlaces({ max, refusal }: { max: number; refusal: string }): Places {
  const taken = new Set<Disposable>();

  function take(): Disposable {
    if (taken.size >= max) throw new AppError("SERVICE_UNAVAILABLE", { message: refusal });
    const place = { [Symbol.dispose]: () => void taken.delete(place) };
    taken.add(place);
    return place;
  }

  return {
    take,
    takeFor(answer) {
      const place = take();
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
