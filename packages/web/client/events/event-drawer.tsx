import { useEffect, useRef, useState } from "react";
import { Button, IconButton } from "../../shared/button.tsx";
import { useCopy } from "../../shared/use-copy.ts";
import { useStore } from "../../shared/use-store.ts";
import { log, logOpen } from "../state/client-state.ts";
import { filterLog, toLines, type LogEntry } from "../state/event-log.ts";
import { EventRow } from "./event-row.tsx";

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
