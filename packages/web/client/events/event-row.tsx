import { memo, useState } from "react";
import { dataText, type LogEntry } from "../state/event-log.ts";

const directions = {
  in: { sign: "←", words: "from the bot", look: "text-accent" },
  out: { sign: "→", words: "to the bot", look: "text-warn" },
  page: { sign: "·", words: "in this page", look: "text-muted" },
} as const;

export const EventRow = memo(function EventRow({ entry }: { entry: LogEntry }) {
  const [open, setOpen] = useState(false);
  const { sign, words, look } = directions[entry.direction];
  const text = dataText(entry.data);
  return (
    <li className="[contain-intrinsic-size:auto_1.75rem] [content-visibility:auto]">
      <button
        type="button"
        className="flex min-h-7 w-full items-baseline gap-3 px-4 py-1 text-left hover:bg-sunken focus-visible:-outline-offset-2 disabled:hover:bg-transparent"
        aria-expanded={text ? open : undefined}
        disabled={!text}
        onClick={() => setOpen(!open)}
      >
        <time className="shrink-0 text-muted tabular-nums">{toTime(entry.atMs)}</time>
        <span className={`shrink-0 ${look}`} title={words}>
          <span aria-hidden="true">{sign}</span>
          <span className="sr-only">{words}</span>
        </span>
        <span className="shrink-0 font-semibold">{entry.name}</span>
        {!open && <span className="truncate text-muted">{text}</span>}
      </button>
      {open && (
        <pre className="mx-4 mb-2 max-h-60 overflow-auto rounded-lg bg-sunken p-3 break-words whitespace-pre-wrap">
          {JSON.stringify(entry.data, undefined, 2)}
        </pre>
      )}
    </li>
  );
});

function toTime(atMs: number): string {
  const time = new Date(atMs);
  const part = (value: number, width = 2) => String(value).padStart(width, "0");
  return `${part(time.getHours())}:${part(time.getMinutes())}:${part(time.getSeconds())}.${part(time.getMilliseconds(), 3)}`;
}
