import type { ConnectionEvent } from "../../shared/events/connection-event.ts";

export interface LogEntry {
  id: number;
  atMs: number;
  direction: "in" | "out" | "page";
  name: string;
  data: unknown;
}

export interface EventLog {
  entries: LogEntry[];
  nextId: number;
  dropped: number;
}

export const emptyLog: EventLog = { entries: [], nextId: 1, dropped: 0 };

export const LOG_MAX = 1_000; // about ten minutes of a talkative bot

export function nextLog(log: EventLog, event: ConnectionEvent): EventLog {
  if (UNTOLD.has(event.type)) return log;
  const entry = { ...toEntry(event), id: log.nextId, atMs: event.atMs };
  const surplus = Math.max(0, log.entries.length + 1 - LOG_MAX);
  return {
    entries: [...log.entries.slice(surplus), entry],
    nextId: log.nextId + 1,
    dropped: log.dropped + surplus,
  };
}

/** A measuring point, many a minute; what follows from the bot's own message; who speaks in a room. */
const UNTOLD = new Set<ConnectionEvent["type"]>(["user-quiet", "bot-ready", "attendees-changed"]);

/** Every word of the filter must occur in the entry's name or data. */
export function filterLog(entries: LogEntry[], filter: string): LogEntry[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return entries;
  return entries.filter((entry) => {
    const text = `${entry.name} ${dataText(entry.data)}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/** One JSON object a line, ready for a bug report. */
export function toLines(entries: LogEntry[]): string {
  return entries
    .map(({ atMs, direction, name, data }) =>
      JSON.stringify({ time: new Date(atMs).toISOString(), direction, name, data }),
    )
    .join("\n");
}

export function dataText(data: unknown): string {
  if (data === undefined) return "";
  return typeof data === "string" ? data : JSON.stringify(data);
}

function toEntry(event: ConnectionEvent): Pick<LogEntry, "direction" | "name" | "data"> {
  switch (event.type) {
    case "message-received":
      return { direction: "in", name: event.message.type, data: event.message.data };
    case "message-sent":
      return { direction: "out", name: event.message.type, data: event.message.data };
    default: {
      const { type, atMs: _atMs, ...data } = event;
      return {
        direction: "page",
        name: type,
        data: Object.keys(data).length > 0 ? data : undefined,
      };
    }
  }
}
