import { Link } from "@tanstack/react-router";
import { Icon, type IconName } from "../../shared/icon.tsx";
import { useStore } from "../../shared/use-store.ts";
import { live } from "../data/events.ts";
import { AccountMenu } from "./account-menu.tsx";
import { Logo } from "../../shared/logo.tsx";

interface Entry {
  label: string;
  icon: IconName;
  to: string;
  exact?: boolean;
}

const main: Entry[] = [
  { label: "Agents", icon: "agents", to: "/agents" },
  { label: "Usage", icon: "usage", to: "/usage" },
];
export const settingsEntries: Entry[] = [
  { label: "API Keys", icon: "key", to: "/settings/keys" },
  { label: "Secrets", icon: "secret", to: "/settings/secrets" },
  { label: "Regions", icon: "region", to: "/settings/regions" },
  { label: "Members", icon: "people", to: "/settings/members" },
  { label: "Quotas", icon: "quotas", to: "/settings/quotas" },
  { label: "Audit", icon: "log", to: "/settings/audit" },
];

export function SideBar() {
  return (
    <aside className="sticky top-0 hidden h-dvh flex-col gap-6 overflow-y-auto border-r border-line bg-paper p-4 md:flex">
      <Link to="/agents" className="flex items-center gap-2.5 rounded-lg px-2 py-1">
        <Logo />
        <span className="font-semibold tracking-tight">Vocalhost</span>
      </Link>
      <nav aria-label="Main" className="grid gap-6">
        <ul className="grid gap-0.5">
          {main.map((entry) => (
            <SideLink key={entry.to} {...entry} />
          ))}
        </ul>
        <div>
          <h2 className="px-2.5 pb-1.5 text-xs font-medium text-muted">Settings</h2>
          <ul className="grid gap-0.5">
            {settingsEntries.map((entry) => (
              <SideLink key={entry.to} {...entry} />
            ))}
          </ul>
        </div>
      </nav>
      <div className="mt-auto grid gap-2">
        <LiveState />
        <AccountMenu />
      </div>
    </aside>
  );
}

function SideLink({ label, icon, to }: Entry) {
  return (
    <li>
      <Link
        to={to}
        className="flex h-9 items-center gap-2.5 rounded-lg px-2.5 text-sm font-medium transition-colors"
        activeProps={{ className: "bg-accent-soft text-accent-deep", "aria-current": "page" }}
        inactiveProps={{ className: "text-muted hover:bg-sunken hover:text-ink" }}
      >
        <Icon name={icon} className="size-[1.125rem]" />
        {label}
      </Link>
    </li>
  );
}

/** On a phone: who you are, at the top. */
export function TopBar() {
  return (
    <header className="sticky top-0 z-20 flex h-14 items-center gap-2 border-b border-line bg-paper px-4 md:hidden">
      <Link to="/agents" className="flex items-center gap-2.5 rounded-lg">
        <Logo />
        <span className="font-semibold tracking-tight">Vocalhost</span>
      </Link>
      <div className="ml-auto flex items-center gap-3">
        <LiveState />
        <AccountMenu compact />
      </div>
    </header>
  );
}

/** On a phone: where to go, under the thumb. */
export function BottomBar() {
  const entries = [...main, { label: "Settings", icon: "settings" as const, to: "/settings" }];
  return (
    <nav
      aria-label="Main"
      className="fixed inset-x-0 bottom-0 z-20 border-t border-line bg-paper pb-[env(safe-area-inset-bottom)] md:hidden"
    >
      <ul className="grid grid-cols-3">
        {entries.map(({ label, icon, to }) => (
          <li key={to}>
            <Link
              to={to}
              className="grid h-16 justify-items-center gap-0.5 py-2.5 text-xs font-medium"
              activeProps={{ className: "text-accent-deep", "aria-current": "page" }}
              inactiveProps={{ className: "text-muted" }}
            >
              <Icon name={icon} />
              {label}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}

const liveWords = {
  connecting: { text: "Connecting", dot: "bg-edge", title: "Connecting to live updates" },
  live: { text: "Live", dot: "bg-accent", title: "Changes appear as they happen" },
  polling: {
    text: "Every 30 s",
    dot: "bg-warn",
    title: "Live updates are interrupted; this page refreshes every 30 seconds",
  },
} as const;

function LiveState() {
  const { text, dot, title } = liveWords[useStore(live)];
  return (
    <span className="flex items-center gap-2 px-2.5 text-[0.8125rem] text-muted" title={title}>
      <span aria-hidden="true" className={`size-2 rounded-full ${dot}`} />
      {text}
    </span>
  );
}
