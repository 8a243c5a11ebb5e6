import type { Log } from "../log.ts";
import type { AudioDrop } from "./transport.ts";

/** Reports dropped audio: at once, and then once for each second with further drops. */
export interface AudioDrops {
  note(where: AudioDrop["where"], ms: number, why: string): void;
  /** Reports what has not been reported yet. */
  end(): void;
}

const TELL_EVERY_MS = 1_000;

export function createAudioDrops(log: Log, tell: (drop: AudioDrop) => void): AudioDrops {
  const untold = new Map<string, { where: AudioDrop["where"]; ms: number; timer: NodeJS.Timeout }>();
  const totalMs = new Map<string, number>();

  function report(where: AudioDrop["where"], ms: number, why: string): void {
    const total = (totalMs.get(why) ?? 0) + ms;
    totalMs.set(why, total);
    log.warn({ where, droppedMs: Math.round(ms), droppedInAllMs: Math.round(total), why }, "audio dropped");
    tell({ where, ms });
  }

  function wait(where: AudioDrop["where"], why: string): void {
    const timer = setTimeout(() => {
      const { ms = 0 } = untold.get(why) ?? {};
      untold.delete(why);
      if (ms === 0) return;
      wait(where, why);
      report(where, ms, why);
    }, TELL_EVERY_MS);
    timer.unref();
    untold.set(why, { where, ms: 0, timer });
  }

  return {
    note(where, ms, why) {
      const waiting = untold.get(why);
      if (waiting) {
        waiting.ms += ms;
        return;
      }
      wait(where, why);
      report(where, ms, why);
    },
    end() {
      const left = [...untold];
      untold.clear();
      for (const [why, { where, ms, timer }] of left) {
        clearTimeout(timer);
        if (ms > 0) report(where, ms, why);
      }
    },
  };
}
