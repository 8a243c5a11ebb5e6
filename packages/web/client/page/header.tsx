import { useSyncExternalStore } from "react";
import { IconButton } from "../../shared/button.tsx";
import { Logo } from "../../shared/logo.tsx";
import { isDark, onThemeChange, toggleTheme } from "../../shared/theme.ts";
import { useStore } from "../../shared/use-store.ts";
import type { RunnerStatus } from "../runner/runner-status.ts";
import { helpOpen, logOpen } from "../state/client-state.ts";

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
          label={dark ? "Light theme" : "Dark theme"}
          onClick={toggleTheme}
        />
        <IconButton icon="help" label="Help and shortcuts" onClick={() => helpOpen.set(true)} />
      </nav>
    </header>
  );
}

const runnerWords = {
  looking: { text: "looking", dot: "bg-edge" },
  ready: { text: "ready", dot: "bg-accent" },
  unreachable: { text: "not responding", dot: "bg-danger" },
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
