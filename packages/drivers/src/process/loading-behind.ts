import { LOADING_MAX_MS, LOADING_SHARE } from "../loading.ts";
import type { Cgroups } from "./cgroups.ts";

/**
 * Gives instances that no session waits for a low CPU weight while they load, so that they do not slow down calls. It ends
 * when the instance listens, when a session waits for it, or after a time.
 */
export interface LoadingBehind {
  /** Returns the CPU weight that the instance begins with. */
  begin(id: string, options: { isAwaited: boolean }): number;
  /** Takes the ids of instances that have a session or are about to. */
  awaited(ids: ReadonlySet<string>): void;
  /** Called when the instance listens or is over. */
  end(id: string): void;
}

export function createLoadingBehind(
  cgroups: Pick<Cgroups, "share">,
  { maxMs = LOADING_MAX_MS }: { maxMs?: number | undefined } = {},
): LoadingBehind {
  const behind = new Map<string, NodeJS.Timeout>();

  function end(id: string): boolean {
    clearTimeout(behind.get(id));
    return behind.delete(id);
  }

  function raise(id: string): void {
    if (end(id)) void cgroups.share(id, 1);
  }

  return {
    begin(id, { isAwaited }) {
      if (isAwaited) return 1;
      behind.set(id, setTimeout(raise, maxMs, id).unref());
      return LOADING_SHARE;
    },
    awaited(ids) {
      for (const id of behind.keys()) if (ids.has(id)) raise(id);
    },
    end: (id) => void end(id),
  };
}
