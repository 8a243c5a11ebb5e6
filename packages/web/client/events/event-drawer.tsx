import { memo, useEffect, useRef, useState } from "react";
import { Button, IconButton } from "../../shared/button.tsx";
import { useCopy } from "../../shared/use-copy.ts";
import { useStore } from "../../shared/use-store.ts";
import { log, logOpen } from "../state/client-state.ts";
import { dataText, filterLog, type LogEntry, toLines } from "../state/event-log.ts";

/** Every message and event with its time, for those who build the bot. */
export function EventDrawer() {
  const live = useStore(log);
  const [frozen, setFrozen] = useState<typeof live>();
  const [clearedId, setClearedId] = useState(0);
  const [filter, setFilter] = useState("");
  const { entries, dropped } = frozen ?? live;
  const shown = filterLog(entries, filter).filter((entry) => entry.id > clearedId);
  const missed = frozen ? live.nextId - frozen.nextId : 0;
  return (
    <section
      aria-label="Event log"
      className="fixed inset-x-0 bottom-0 z-30 flex flex-col border-t border-line bg-surface max-lg:top-0 lg:h-(--drawer)"
    >
      <Toolbar
        shown={shown}
        filter={filter}
        paused={frozen !== undefined}
        missed={missed}
        onFilter={setFilter}
        onPause={() => setFrozen(frozen ? undefined : live)}
        onClear={() => setClearedId(live.nextId - 1)}
      />
      <Rows entries={shown} empty={filter ? "Nothing matches." : "Nothing has happened yet."} />
      {dropped > 0 && (
        <p className="border-t border-line px-4 py-1 text-xs text-muted">
          {dropped} older events were dropped; the log keeps the last 1,000.
        </p>
      )}
    </section>
  );
}

interface ToolbarProps {
  shown: LogEntry[];
  filter: string;
  paused: boolean;
  missed: number;
  onFilter: (filter: string) => void;
  onPause: () => void;
  onClear: () => void;
}

const narrow = "max-sm:px-2 max-sm:[&>svg]:hidden";

function Toolbar(props: ToolbarProps) {
  const { copied, copy } = useCopy();
  return (
    <div className="flex shrink-0 flex-wrap items-center gap-x-1 gap-y-2 border-b border-line px-4 py-2">
      <h2 className="mr-3 text-sm font-semibold">Events</h2>
      <input
        aria-label="Filter events"
        className="order-last h-9 w-full rounded-lg border border-edge bg-paper px-3 text-sm placeholder:text-muted sm:order-none sm:w-64"
        placeholder="Filter, e.g. bot-output"
        type="search"
        value={props.filter}
        onChange={(event) => props.onFilter(event.target.value)}
      />
      <span className="ml-auto" />
      <Button
        look="quiet"
        size="small"
        className={narrow}
        icon={props.paused ? "play" : "pause"}
        aria-pressed={props.paused}
        onClick={props.onPause}
      >
        {props.paused ? `Resume${props.missed ? ` (${props.missed} new)` : ""}` : "Pause"}
      </Button>
      <Button look="quiet" size="small" icon="trash" className={narrow} onClick={props.onClear}>
        Clear
      </Button>
      <Button
        look="quiet"
        size="small"
        className={narrow}
        icon={copied ? "check" : "copy"}
        disabled={props.shown.length === 0}
        onClick={() => copy(toLines(props.shown))}
      >
        {copied ? "Copied" : "Copy"}
      </Button>
      <IconButton icon="close" label="Close the event log" onClick={() => logOpen.set(false)} />
    </div>
  );
}

const NEAR_END_PX = 40;

function Rows({ entries, empty }: { entries: LogEntry[]; empty: string }) {
  const list = useRef<HTMLOListElement>(null);
  const following = useRef(true);
  useEffect(() => {
    const element = list.current;
    if (element && following.current) element.scrollTop = element.scrollHeight;
  });
  if (entries.length === 0) return <p className="p-4 text-sm text-muted">{empty}</p>;
  return (
    <ol
      ref={list}
      className="min-h-0 flex-1 overflow-y-auto overscroll-contain py-1 font-mono text-xs"
      onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
        following.current = scrollHeight - scrollTop - clientHeight < NEAR_END_PX;
      }}
    >
      {entries.map((entry) => (
        <EventRow key={entry.id} entry={entry} />
      ))}
    </ol>
  );
}

const directions = {
  in: { sign: "←", words: "from the bot", look: "text-accent" },
  out: { sign: "→", words: "to the bot", look: "text-warn" },
  page: { sign: "·", words: "in this page", look: "text-muted" },
} as const;

const EventRow = memo(function EventRow({ entry }: { entry: LogEntry }) {
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
