import type { Violation } from "@vocalhost/simulator";
import { Icon } from "../icon.tsx";

/** Messages of the bot that the carrier would reject. */
export function Violations({ violations }: { violations: (Violation & { count: number })[] }) {
  if (violations.length === 0) {
    return (
      <p className="flex items-center gap-2 text-[0.8125rem] text-muted">
        <Icon name="check" className="size-4 text-accent" />
        Every message from your bot met the carrier's rules.
      </p>
    );
  }
  return (
    <div className="rounded-xl bg-warn-soft p-3 text-[0.8125rem]">
      <h3 className="flex items-center gap-2 font-semibold text-warn">
        <Icon name="warning" className="size-4" />
        Protocol violations
      </h3>
      <ul className="mt-1.5 grid gap-1">
        {violations.map(({ code, detail, count }) => (
          <li key={`${code} ${detail}`} className="flex gap-3">
            <span className="min-w-0 flex-1 break-words">{detail}</span>
            <span className="shrink-0 text-muted tabular-nums">
              {code} × {count}
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}
