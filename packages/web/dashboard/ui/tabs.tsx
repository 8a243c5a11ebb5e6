import { Link, useLocation } from "@tanstack/react-router";
import { useEffect, useRef } from "react";

export interface TabLink {
  label: string;
  to: string;
  params?: Record<string, string>;
  /** Only for exactly this address. */
  exact?: boolean;
}

/** Pages of one thing, as links. */
export function TabLinks({ label, tabs }: { label: string; tabs: TabLink[] }) {
  const { pathname } = useLocation();
  const place = useRef<HTMLElement>(null);
  useEffect(() => {
    if (pathname.endsWith("/")) return;
    const current = place.current?.querySelector("[aria-current=page]");
    current?.scrollIntoView({ inline: "center", block: "nearest" }); // on a phone they do not all fit
  }, [pathname]);
  return (
    <nav ref={place} aria-label={label} className="-mx-4 overflow-x-auto px-4 sm:mx-0 sm:px-0">
      <ul className="flex min-w-max gap-1 border-b border-line">
        {tabs.map((tab) => (
          <li key={tab.label}>
            <Link
              to={tab.to}
              {...(tab.params ? { params: tab.params } : {})}
              activeOptions={{ exact: tab.exact ?? false, includeSearch: false }}
              className="-mb-px block rounded-t-lg border-b-2 px-3 py-2.5 text-sm font-medium transition-colors"
              activeProps={{ className: "border-accent text-ink", "aria-current": "page" }}
              inactiveProps={{ className: "border-transparent text-muted hover:text-ink" }}
            >
              {tab.label}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}
