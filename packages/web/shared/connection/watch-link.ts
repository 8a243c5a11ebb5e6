import type { ConnectionReport } from "../events/connection-event.ts";
import type { Link } from "./link.ts";

const LOOK_EVERY_MS = 500;
const LOST_AFTER_MS = 30_000; // by then the other side has given the session up too

/** Reports when the network goes away and comes back, when to stop hoping, and a silent hang-up. */
export function watchLink(options: {
  link: Link;
  report: (report: ConnectionReport) => void;
  onLost: () => void;
  onHungUp: () => void;
}): Disposable {
  const { link, report, onLost, onHungUp } = options;
  let hungUp = false;
  let interruptedSinceMs: number | undefined;
  const timer = setInterval(() => {
    const nowMs = performance.now();
    // Seen twice, so that a good-bye on its way comes first.
    if (hungUp && link.isHungUp()) return onHungUp();
    hungUp = link.isHungUp();
    link.followBot();
    if (!link.isInterrupted()) {
      if (interruptedSinceMs !== undefined) report({ type: "link-restored" });
      interruptedSinceMs = undefined;
    } else if (interruptedSinceMs === undefined) {
      interruptedSinceMs = nowMs;
      report({ type: "link-interrupted" });
    } else if (nowMs - interruptedSinceMs > LOST_AFTER_MS) {
      onLost();
    }
    return undefined;
  }, LOOK_EVERY_MS);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
