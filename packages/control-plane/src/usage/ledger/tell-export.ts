import type { Log } from "@vocalhost/base/log";
import type { ExportRound } from "./export.ts";

const REMIND_MS = 60 * 60_000;

/** Says once when exporting begins to fail, again every hour or when the reason changes, and when it works again. */
export function createExportTeller(log: Log, monotonicMs: () => number): (round: ExportRound) => void {
  let told: { problem: string; atMs: number } | undefined;
  return ({ sent, held, failed, problem }) => {
    if (held > 0)
      log.error({ held }, "usage entries could not be exported for 23 hours and are held for a person");
    if (failed === 0) {
      if (told && sent > 0) {
        log.info({ sent }, "usage is exported again");
        told = undefined;
      }
      return;
    }
    if (problem === undefined) return; // they wait, and nothing new is known of them
    if (told?.problem === problem && monotonicMs() - told.atMs < REMIND_MS) return;
    told = { problem, atMs: monotonicMs() };
    log.warn({ failed, problem }, "usage cannot be exported, will be retried");
  };
}
