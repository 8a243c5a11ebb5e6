import { useId, type ReactNode } from "react";

interface CardProps {
  title?: string;
  about?: ReactNode;
  actions?: ReactNode;
  /** Without padding, for tables. */
  flush?: boolean;
  /** Below, across the whole width: what saves or destroys. */
  footer?: ReactNode;
  className?: string;
  children: ReactNode;
}

/** A part of a page with a frame around it. */
export function Card({ title, about, actions, flush = false, footer, className = "", children }: CardProps) {
  const id = useId();
  return (
    <section
      {...(title ? { "aria-labelledby": id } : {})}
      className={`min-w-0 overflow-hidden rounded-2xl border border-line bg-surface ${className}`}
    >
      {title && (
        <div className="flex flex-wrap items-start gap-x-4 gap-y-2 px-5 pt-4 pb-1">
          <div className="min-w-0 flex-1">
            <h2 id={id} className="font-semibold">
              {title}
            </h2>
            {about && <p className="text-sm text-pretty text-muted">{about}</p>}
          </div>
          {actions}
        </div>
      )}
      <div className={flush ? (title ? "pt-2" : "") : `px-5 ${title ? "pt-2 pb-5" : "py-5"}`}>{children}</div>
      {footer && (
        <div className="flex flex-wrap items-center gap-3 border-t border-line bg-paper/60 px-5 py-3">
          {footer}
        </div>
      )}
    </section>
  );
}

/** A number that matters, with what it is. */
export function Figure({ label, value, note }: { label: string; value: ReactNode; note?: ReactNode }) {
  return (
    <div className="min-w-0">
      <dt className="text-[0.8125rem] font-medium text-muted">{label}</dt>
      <dd className="mt-0.5 text-xl font-semibold tracking-tight tabular-nums">{value}</dd>
      {note && <dd className="text-[0.8125rem] text-muted">{note}</dd>}
    </div>
  );
}

/** Names and values, one pair in a row. */
export function Facts({ facts }: { facts: { label: string; value: ReactNode }[] }) {
  return (
    <dl className="grid grid-cols-[minmax(7rem,auto)_minmax(0,1fr)] gap-x-6 gap-y-2 text-sm">
      {facts.map(({ label, value }) => (
        <div key={label} className="contents">
          <dt className="text-muted">{label}</dt>
          <dd className="min-w-0 [overflow-wrap:anywhere]">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
