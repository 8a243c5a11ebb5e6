import type { Connection } from "../connection/connection.ts";
import { nowMs } from "../now.ts";
import type { ResponseLatency } from "../figures/response-latency.ts";
import type { Store } from "../store.ts";
import { drawRibbon } from "./draw-ribbon.ts";
import { usePainting } from "./use-painting.ts";

/** Voice activity of both sides over the last twelve seconds. */
export function Ribbon({ connection, latency }: { connection: Connection; latency: Store<ResponseLatency> }) {
  const canvas = usePainting({
    draw(picture) {
      const { history } = connection;
      drawRibbon(picture, { history, nowMs: nowMs(), gaps: latency.get().gaps });
    },
    calm: true,
  });
  return (
    <div className="flex items-stretch gap-3">
      <div className="flex flex-col justify-between py-1.5 text-right text-xs font-medium text-muted">
        <span>You</span>
        <span className="text-accent">Bot</span>
      </div>
      <canvas
        ref={canvas}
        className="h-16 min-w-0 lg:h-20 flex-1"
        role="img"
        aria-label="Loudness of your voice and the bot's over the last twelve seconds"
      />
    </div>
  );
}
