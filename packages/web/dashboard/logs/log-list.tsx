import type { LogLine } from "@vocalhost/protocol";
import { useId, useLayoutEffect, useRef, useState, type KeyboardEvent } from "react";
import { useNow } from "../ui/time.tsx";
import type { LogLines } from "./log-buffer.ts";

const ROW_PX = 22;
const TODAY_MS = 60_000; // how often the date is read again: a page may stay open past midnight
const AROUND = 12; // rows drawn outside the visible part
const STEPS: Partial<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1, PageDown: 20, PageUp: -20 };

interface LogListProps {
  shown: LogLines;
  label: string;
  height: string;
  /** Number of the selected line. */
  selected: number | undefined;
  onSelect: (number: number | undefined) => void;
}

/** Draws only the visible lines of thousands. Follows the end until the reader scrolls away from it. */
export function LogList({ shown, label, height, selected, onSelect }: LogListProps) {
  const { lines, firstNumber } = shown;
  const place = useRef<HTMLDivElement>(null);
  const atEnd = useRef(true);
  const before = useRef(firstNumber);
  const [view, setView] = useState({ top: 0, height: 600 });
  const id = useId();
  const today = toDay(useNow(TODAY_MS));
  const withDays = lines[0] !== undefined && toDay(lines[0].timestamp) !== today;

  useLayoutEffect(() => {
    const { current } = place;
    if (!current) return;
    if (atEnd.current) current.scrollTop = lines.length * ROW_PX;
    else current.scrollTop -= (firstNumber - before.current) * ROW_PX; // the same lines stay under the eye
    before.current = firstNumber;
    setView({ top: current.scrollTop, height: current.clientHeight });
  }, [lines, firstNumber]);

  const first = Math.max(0, Math.floor(view.top / ROW_PX) - AROUND);
  const last = Math.min(lines.length, Math.ceil((view.top + view.height) / ROW_PX) + AROUND);
  const move = (event: KeyboardEvent) => {
    if (event.key === "Escape") return onSelect(undefined);
    const step = STEPS[event.key];
    if (step === undefined || lines.length === 0) return;
    event.preventDefault();
    const from = selected === undefined ? (step > 0 ? -1 : lines.length) : selected - firstNumber;
    const to = Math.max(0, Math.min(lines.length - 1, from + step));
    onSelect(firstNumber + to);
    if (place.current) scrollTo(place.current, to);
  };
  return (
    <div
      ref={place}
      role="listbox"
      aria-label={label}
      tabIndex={0}
      aria-activedescendant={selected === undefined ? undefined : `${id}-${selected}`}
      className={`overflow-auto rounded-xl border border-line bg-paper font-mono text-xs leading-[22px] ${height}`}
      onKeyDown={move}
      onScroll={({ currentTarget }) => {
        atEnd.current =
          currentTarget.scrollTop + currentTarget.clientHeight >= currentTarget.scrollHeight - ROW_PX;
        setView({ top: currentTarget.scrollTop, height: currentTarget.clientHeight });
      }}
    >
      <div
        role="presentation"
        className="relative w-max min-w-full"
        style={{ height: lines.length * ROW_PX }}
      >
        <div role="presentation" style={{ transform: `translateY(${first * ROW_PX}px)` }}>
          {lines.slice(first, last).map((line, index) => {
            const number = firstNumber + first + index;
            return (
              <Row
                key={number}
                id={`${id}-${number}`}
                line={line}
                withDay={withDays}
                isSelected={number === selected}
                onSelect={() => onSelect(number === selected ? undefined : number)}
              />
            );
          })}
        </div>
      </div>
    </div>
  );
}

function scrollTo(place: HTMLElement, line: number): void {
  const top = line * ROW_PX;
  if (top < place.scrollTop) place.scrollTop = top;
  if (top + ROW_PX * 2 > place.scrollTop + place.clientHeight)
    place.scrollTop = top + ROW_PX * 2 - place.clientHeight;
}

interface RowProps {
  id: string;
  line: LogLine;
  withDay: boolean;
  isSelected: boolean;
  onSelect: () => void;
}

function Row({ id, line, withDay, isSelected, onSelect }: RowProps) {
  return (
    <div
      id={id}
      role="option"
      aria-selected={isSelected}
      className={`flex h-[22px] cursor-pointer gap-3 px-3 whitespace-pre ${isSelected ? "bg-accent-soft" : "hover:bg-sunken"}`}
      onClick={onSelect}
    >
      <span className="shrink-0 text-muted">
        {withDay && `${toDay(line.timestamp)} `}
        {toClockTime(line.timestamp)}
      </span>
      <span>{line.log}</span>
    </div>
  );
}

const day = new Intl.DateTimeFormat(undefined, { month: "short", day: "2-digit" });

function toDay(time: string | number): string {
  return day.format(new Date(time));
}

/** To the millisecond, in the reader's own zone. */
function toClockTime(timestamp: string): string {
  const time = new Date(timestamp);
  const two = (value: number) => String(value).padStart(2, "0");
  return `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}.${String(time.getMilliseconds()).padStart(3, "0")}`;
}
