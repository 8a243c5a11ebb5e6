import type { FilterView, SwitchFilter } from "@vocalhost/protocol";

/** Where a session's voice filter can be looked at and switched. */
export interface FilterAddress {
  url: string;
  headers: Record<string, string>;
}

const ANSWER_MS = 5_000;

/** Undefined where no filter is at work. */
export function readFilter(at: FilterAddress | undefined): Promise<FilterView | undefined> {
  return ask(at, {});
}

export function switchFilter(
  at: FilterAddress | undefined,
  change: SwitchFilter,
): Promise<FilterView | undefined> {
  const headers = { "content-type": "application/json" };
  return ask(at, { method: "POST", headers, body: JSON.stringify(change) });
}

async function ask(
  at: FilterAddress | undefined,
  request: { method?: string; headers?: Record<string, string>; body?: string },
): Promise<FilterView | undefined> {
  if (!at) return undefined;
  try {
    const answer = await fetch(at.url, {
      ...request,
      headers: { ...at.headers, ...request.headers },
      signal: AbortSignal.timeout(ANSWER_MS),
      cache: "no-store",
    });
    return answer.ok ? ((await answer.json()) as FilterView) : undefined;
  } catch {
    return undefined; // the next look will tell
  }
}
