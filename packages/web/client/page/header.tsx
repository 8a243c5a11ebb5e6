import { useSyncExternalStore } from "react";
import { IconButton } from "../../shared/button.tsx";
import { isDark, onThemeChange, toggleTheme } from "../../shared/theme.ts";
import { useStore } from "../../shared/use-store.ts";
import type { RunnerStatus } from "../connection/runner-status.ts";
import { helpOpen, logOpen } from "./client-state.ts";

export function Header({ runner }: { runner: RunnerStatus }) {
  const dark = useSyncExternalStore(onThemeChange, isDark);
  const showsLog = useStore(logOpen);
  return (
    <header className="sticky top-0 z-20 flex h-14 items-center gap-3 border-b border-line bg-paper px-4 sm:px-6">
      <Logo />
      <span className="text-[0.9375rem] font-semibold tracking-tight">Vocalhost</span>
      <RunnerChip runner={runner} />
      <nav className="ml-auto flex items-center gap-0.5" aria-label="Page">
        <IconButton
          icon="log"
          label="Event log"
          aria-pressed={showsLog}
          onClick={() => logOpen.set(!showsLog)}
        />
        <IconButton
          icon={dark ? "sun" : "moon"}
          label={dark ? "Light colours" : "Dark colours"}
          onClick={toggleTheme}
        />
        <IconButton icon="help" label="Help and shortcuts" onClick={() => helpOpen.set(true)} />
      </nav>
    </header>
  );
}

function Logo() {
  return (
    <svg aria-hidden="true" className="size-7 text-accent" viewBox="0 0 32 32">
      <rect width="32" height="32" rx="9" fill="currentColor" />
      <path
        d="M8 13.5v5M12 10v12M16 7v18M20 11.5v9M24 14v4"
        className="stroke-on-accent"
        strokeWidth="2.6"
        strokeLinecap="round"
      />
    </svg>
  );
}

const runnerWords = {
  looking: { text: "looking", dot: "bg-edge" },
  ready: { text: "ready", dot: "bg-accent" },
  unreachable: { text: "does not answer", dot: "bg-danger" },
} as const;

function RunnerChip({ runner }: { runner: RunnerStatus }) {
  const { text, dot } = runnerWords[runner.kind];
  return (
    <span className="flex min-w-0 items-center gap-2 text-[0.8125rem] text-muted">
      <span aria-hidden="true" className={`size-2 shrink-0 rounded-full ${dot}`} />
      <span className="truncate" title={`Runner ${text}`}>
        <span className="max-sm:sr-only">{location.host}</span>
        <span className="sr-only">, runner {text}</span>
      </span>
    </span>
  );
}
