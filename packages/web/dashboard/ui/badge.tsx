import type { ReactNode } from "react";

const looks = {
  good: { frame: "bg-accent-soft text-accent-deep", dot: "bg-accent" },
  busy: { frame: "bg-warn-soft text-warn", dot: "bg-warn" },
  bad: { frame: "bg-danger-soft text-danger", dot: "bg-danger" },
  plain: { frame: "bg-sunken text-muted", dot: "bg-edge" },
} as const;

export type Tone = keyof typeof looks;

/** A state in words; the colour only repeats them. */
export function Badge({ tone, children }: { tone: Tone; children: ReactNode }) {
  const { frame, dot } = looks[tone];
  return (
    <span
      className={`inline-flex items-center gap-1.5 rounded-full px-2.5 py-0.5 text-[0.8125rem] font-medium whitespace-nowrap ${frame}`}
    >
      <span aria-hidden="true" className={`size-1.5 shrink-0 rounded-full ${dot}`} />
      {children}
    </span>
  );
}
