import { useEffect, useState } from "react";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** "3 min ago", with the exact time on hover; keeps up by itself. */
export function Ago({ time }: { time: string }) {
  const nowMs = useNow(10_000);
  return (
    <time dateTime={time} title={toDateTime(time)} className="whitespace-nowrap">
      {toAgo(nowMs - Date.parse(time))}
    </time>
  );
}

/** The day and the time, in the reader's own zone. */
export function When({ time }: { time: string }) {
  return (
    <time dateTime={time} title={time} className="whitespace-nowrap">
      {toDateTime(time)}
    </time>
  );
}

export function toAgo(ms: number): string {
  if (ms < 10_000) return "just now";
  if (ms < MINUTE_MS) return `${Math.floor(ms / 1000)} s ago`;
  if (ms < HOUR_MS) return `${Math.floor(ms / MINUTE_MS)} min ago`;
  if (ms < 2 * DAY_MS) return `${Math.floor(ms / HOUR_MS)} h ago`;
  return `${Math.floor(ms / DAY_MS)} days ago`;
}

const dateTime = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

export function toDateTime(time: string): string {
  return dateTime.format(new Date(time));
}

/** 3,725 s as "1 h 2 min". */
export function toLength(seconds: number): string {
  if (seconds < 60) return `${Math.floor(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.floor(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** The present, again and again. */
export function useNow(everyMs: number): number {
  const [nowMs, setNowMs] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return nowMs;
}
