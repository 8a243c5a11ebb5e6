import { useEffect, useRef, type ReactNode } from "react";
import { Button } from "../../shared/button.tsx";
import { useCopy } from "../../shared/use-copy.ts";

interface ShownOnceProps {
  title: string;
  value: string;
  /** A sentence on its use, and that it is shown only once. */
  children: ReactNode;
  onDone: () => void;
}

/** A value that is shown only once. It stays on screen until the reader dismisses it. */
export function ShownOnce({ title, value, children, onDone }: ShownOnceProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  const { copied, copy } = useCopy();
  useEffect(() => heading.current?.focus(), []);
  return (
    <section aria-label={title} className="rounded-2xl border border-accent bg-accent-soft p-5">
      <h2 ref={heading} tabIndex={-1} className="font-semibold outline-none">
        {title}
      </h2>
      <p className="mt-0.5 max-w-2xl text-sm text-pretty">{children}</p>
      <div className="mt-3 flex flex-wrap items-center gap-2">
        <code className="min-w-0 rounded-lg border border-line bg-surface px-3 py-2 font-mono text-[0.8125rem] [overflow-wrap:anywhere]">
          {value}
        </code>
        <Button size="small" look="primary" icon={copied ? "check" : "copy"} onClick={() => copy(value)}>
          {copied ? "Copied" : "Copy"}
        </Button>
        <Button size="small" onClick={onDone}>
          I have saved it
        </Button>
      </div>
    </section>
  );
}
