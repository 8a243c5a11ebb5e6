import type { ServerResponse } from "node:http";
import type { Clock } from "@vocalhost/base/clock";

const TAKEN_WITHIN_MS = 60_000; // a page, even over a poor line

/** Yields the pieces one by one. Destroys the answer if the client does not read a piece in time. */
export async function* whileTaken<T>(
  pieces: AsyncIterable<T>,
  { clock, answer }: { clock: Clock; answer: Pick<ServerResponse, "destroy"> },
): AsyncGenerator<T, void> {
  for await (const piece of pieces) {
    const taken = new AbortController();
    void clock.sleep(TAKEN_WITHIN_MS, taken.signal).then(() => {
      if (!taken.signal.aborted) answer.destroy();
    });
    try {
      yield piece;
    } finally {
      taken.abort();
    }
  }
}
