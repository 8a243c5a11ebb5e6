import type { Session } from "@vocalhost/protocol";

/** Times and values of a chart. */
export interface Curve {
  /** Unix seconds. */
  times: number[];
  values: number[];
}

/** How many sessions ran at each moment; one point per change. */
export function concurrencyOf(sessions: Session[], nowMs: number): Curve {
  const changes = sessions
    .flatMap(({ createdAt, endedAt }) => [
      { atMs: Date.parse(createdAt), by: 1 },
      ...(endedAt === null ? [] : [{ atMs: Date.parse(endedAt), by: -1 }]),
    ])
    .sort((one, other) => one.atMs - other.atMs || one.by - other.by);
  const curve: Curve = { times: [], values: [] };
  let running = 0;
  const put = (atMs: number) => {
    const second = Math.floor(atMs / 1000);
    if (curve.times.at(-1) === second) {
      // Within one second the highest counts, so that short sessions are not lost.
      curve.values[curve.values.length - 1] = Math.max(curve.values.at(-1) ?? 0, running);
      return;
    }
    curve.times.push(second);
    curve.values.push(running);
  };
  for (const { atMs, by } of changes) {
    running += by;
    put(atMs);
  }
  if (curve.times.length > 0) put(nowMs);
  return curve;
}

/** Seconds until the bot had started, by the moment it was asked to; cold and warm apart. */
export function startsOf(sessions: Session[]): {
  times: number[];
  warm: (number | null)[];
  cold: (number | null)[];
} {
  const started = sessions
    .flatMap(({ createdAt, botStartSeconds, coldStart }) =>
      botStartSeconds === null ? [] : [{ second: Date.parse(createdAt) / 1000, botStartSeconds, coldStart }],
    )
    .sort((one, other) => one.second - other.second);
  return {
    times: started.map(({ second }) => second),
    warm: started.map(({ coldStart, botStartSeconds }) => (coldStart ? null : botStartSeconds)),
    cold: started.map(({ coldStart, botStartSeconds }) => (coldStart ? botStartSeconds : null)),
  };
}

/** Nearest rank; undefined of nothing. */
export function percentile(values: number[], percent: number): number | undefined {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)];
}
