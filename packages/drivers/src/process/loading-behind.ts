import { LOADING_MAX_MS, LOADING_SHARE } from "../loading.ts";
import type { Cgroups } from "./cgroups.ts";

/**
 * Instances that nobody waits for yet load behind those with a call: until they listen, a session waits for one, or it has
 * taken so long that it must not be kept from its start.
 */
export interface LoadingBehind {
  /** What it begins with. */
  begin(id: string, options: { isAwaited: boolean }): number;
  /** These have sessions, or are about to. */
  awaited(ids: ReadonlySet<string>): void;
  /** It listens, or is over. */
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
