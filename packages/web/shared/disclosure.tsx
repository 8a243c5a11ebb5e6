import type { ReactNode } from "react";
import { Icon } from "./icon.tsx";

interface DisclosureProps {
  title: string;
  note?: ReactNode;
  open?: boolean;
  children: ReactNode;
}

export function Disclosure({ title, note, open, children }: DisclosureProps) {
  return (
    <details className="group" open={open}>
      <summary className="mt-1 flex min-h-11 items-center gap-2 rounded-lg text-sm font-medium text-muted transition-colors hover:text-ink">
        <Icon name="chevron" className="size-4 transition-transform group-open:rotate-90" />
        {title}
        {note && <span className="ml-auto font-normal">{note}</span>}
      </summary>
      <div className="pt-1 pb-2">{children}</div>
    </details>
  );
}
