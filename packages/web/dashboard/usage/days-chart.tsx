import type { UsageDays } from "@vocalhost/protocol";
import { niceTop, toCount, toPart } from "./usage-words.ts";

type Day = UsageDays["days"][number];

const LABEL_EVERY_DAYS = 7;

/** One bar for each day, with the filter's minutes at its foot. `summary` says the same in words. */
export function DaysChart({ days, summary }: { days: Day[]; summary: string }) {
  const top = niceTop(Math.max(...days.map(({ activeSeconds }) => activeSeconds / 60)));
  const percent = (seconds: number) => `${((seconds / 60 / top) * 100).toFixed(2)}%`;
  return (
    <>
      <div
        role="img"
        aria-label={summary}
        className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-3 text-xs text-muted"
      >
        <div className="flex h-44 flex-col justify-between text-right tabular-nums">
          {[top, top / 2, 0].map((value) => (
            <span key={value} className="-my-2 leading-4">
              {toCount(value)}
            </span>
          ))}
        </div>
        <div className="relative flex h-44 items-end gap-0.5 border-b border-edge sm:gap-1.5">
          <span className="absolute inset-x-0 top-0 border-t border-line" />
          <span className="absolute inset-x-0 top-1/2 border-t border-line" />
          {days.map(({ day, activeSeconds, filterSeconds }) => (
            <span
              key={day}
              title={`${day}: ${toPart(activeSeconds)} active, ${toPart(filterSeconds)} filter minutes`}
              className="relative flex h-full min-w-0 flex-1 items-end"
            >
              <span
                className="absolute inset-x-0 bottom-0 rounded-t-sm bg-edge/60"
                style={{ height: percent(activeSeconds) }}
              />
              <span
                className="absolute inset-x-0 bottom-0 rounded-t-sm bg-accent"
                style={{ height: percent(filterSeconds) }}
              />
            </span>
          ))}
        </div>
        <div className="col-start-2 mt-1.5 flex gap-0.5 sm:gap-1.5">
          {days.map(({ day }, index) => (
            <span key={day} className="min-w-0 flex-1 text-center whitespace-nowrap tabular-nums">
              {index % LABEL_EVERY_DAYS === 0 && Number(day.slice(8))}
            </span>
          ))}
        </div>
      </div>
      <ul className="mt-3 flex flex-wrap gap-x-4 gap-y-1 text-[0.8125rem] text-muted">
        <li className="flex items-center gap-1.5">
          <span aria-hidden="true" className="size-2.5 rounded-sm bg-edge/60" />
          Active minutes
        </li>
        <li className="flex items-center gap-1.5">
          <span aria-hidden="true" className="size-2.5 rounded-sm bg-accent" />
          of them with the voice filter
        </li>
      </ul>
    </>
  );
}
