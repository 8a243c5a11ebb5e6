const MINUTE_S = 60;
const HOUR_S = 60 * MINUTE_S;
const DAY_S = 24 * HOUR_S;

/** How far back a log is looked at. The values stand in addresses that people have kept. */
export const logRanges = [
  { value: "any", label: "Any time", seconds: Infinity },
  { value: "15m", label: "Last 15 minutes", seconds: 15 * MINUTE_S },
  { value: "1h", label: "Last hour", seconds: HOUR_S },
  { value: "24h", label: "Last 24 hours", seconds: DAY_S },
  { value: "7d", label: "Last 7 days", seconds: 7 * DAY_S },
] as const;
export type LogRange = (typeof logRanges)[number]["value"];

/** Any time, for what is none. */
export function toLogRange(value: unknown): LogRange {
  return logRanges.find((range) => range.value === value)?.value ?? "any";
}

/** The Unix second a range begins with; any time has no beginning. */
export function startTimeOf(range: LogRange, nowMs: number): number | undefined {
  const { seconds } = logRanges.find(({ value }) => value === range) ?? logRanges[0];
  return seconds === Infinity ? undefined : Math.floor(nowMs / 1000) - seconds;
}
