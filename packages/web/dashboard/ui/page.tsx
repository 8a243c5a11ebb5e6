import { Link } from "@tanstack/react-router";
import { useEffect, type ReactNode } from "react";
import { Icon } from "../../shared/icon.tsx";

interface PageProps {
  title: string;
  /** Shown beside the title: a state, a count. */
  beside?: ReactNode;
  /** One sentence. */
  about?: ReactNode;
  actions?: ReactNode;
  /** Where the page belongs to. */
  parent?: { label: string; to: string };
  children: ReactNode;
}

/** One page: its heading, what can be done, and below whatever it shows. */
export function Page({ title, beside, about, actions, parent, children }: PageProps) {
  useTitle(title);
  return (
    <div className="mx-auto grid w-full max-w-6xl gap-6 px-4 py-6 sm:px-8 sm:py-8">
      <header className="flex flex-wrap items-start gap-x-4 gap-y-3">
        <div className="min-w-0 flex-1 basis-64">
          {parent && (
            <Link
              to={parent.to}
              className="mb-1 -ml-1 inline-flex items-center gap-1 rounded text-sm text-muted hover:text-ink"
            >
              <Icon name="back" className="size-4" />
              {parent.label}
            </Link>
          )}
          <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
            <h1 className="min-w-0 text-2xl font-semibold tracking-tight [overflow-wrap:anywhere]">
              {title}
            </h1>
            {beside}
          </div>
          {about && <p className="mt-1 max-w-2xl text-pretty text-muted">{about}</p>}
        </div>
        {actions && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
      </header>
      {children}
    </div>
  );
}

/** Sets the title of the browser's tab. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Vocalhost`;
  }, [title]);
}
