import { useEffect, useRef, useSyncExternalStore, type CSSProperties } from "react";
import { IconButton } from "../../shared/button.tsx";
import { ChoiceField } from "../../shared/choice-field.tsx";
import { Conversation } from "../../shared/conversation/conversation.tsx";
import { DeviceFields } from "../../shared/devices/device-fields.tsx";
import { isOpen } from "../../shared/events/phase.ts";
import { KeyList } from "../../shared/key-list.tsx";
import { Logo } from "../../shared/logo.tsx";
import { CallCard } from "../../shared/phone/call-card.tsx";
import { PHONE } from "../../shared/phone/call-choice.ts";
import { PhoneFields } from "../../shared/phone/phone-fields.tsx";
import { StartBodyEditor } from "../../shared/start-body/start-body-editor.tsx";
import { isDark, onThemeChange, toggleTheme } from "../../shared/theme.ts";
import { useStore } from "../../shared/use-store.ts";
import { useConnection } from "../connection/use-connection.ts";
import { runnerStatus, useRunnerStatus } from "../connection/use-runner-status.ts";
import { EventDrawer } from "../events/event-drawer.tsx";
import { FiguresPanel, LiveFigures } from "../figures/figures-panel.tsx";
import type { RunnerStatus } from "../runner/runner.ts";
import {
  chosenTransport,
  connection,
  helpOpen,
  keypad,
  lastTransport,
  logOpen,
  singleKeys,
  startBodyText,
  timeline,
  transcript,
} from "../state/client-state.ts";
import { Stage } from "./stage.tsx";
import { shortcuts, useShortcuts } from "./use-shortcuts.ts";

const DRAWER_HEIGHT = "18rem";

export function App() {
  const runner = useRunnerStatus();
  const showsLog = useStore(logOpen);
  const phase = useStore(connection.phase);
  const { entries } = useStore(transcript);
  const hasWords = entries.length > 0;
  const { chosen, onPhone, sendText } = useConnection();
  useShortcuts();
  useEffect(endOnLeave, []);
  useEffect(() => {
    if (chosen) void connection.prepare(chosen);
  }, [chosen]);
  return (
    <div style={{ "--drawer": showsLog ? DRAWER_HEIGHT : "0rem" } as CSSProperties}>
      <Header runner={runner} />
      <main className="grid gap-6 pb-28 lg:grid-cols-[minmax(0,1fr)_25rem] lg:grid-rows-[auto_1fr] lg:gap-x-0 lg:pb-(--drawer)">
        <Stage runner={runner} />
        <aside
          className={`border-line bg-surface max-lg:border-y lg:sticky lg:top-14 lg:col-start-2 lg:row-span-2 lg:row-start-1 lg:h-[calc(100dvh-3.5rem-var(--drawer))] lg:self-start lg:border-l ${onPhone && isOpen(phase) ? "h-[40rem]" : "h-[24rem]"} ${isOpen(phase) || hasWords ? "" : "max-lg:hidden"}`}
        >
          <Conversation onSend={sendText} {...{ phase, entries, onPhone, keypad }} />
        </aside>
        <div className="grid content-start gap-6 px-4 lg:pt-2 sm:px-6 lg:pb-8">
          <Figures />
          <Setup />
        </div>
      </main>
      {showsLog && <EventDrawer />}
      <HelpDialog />
    </div>
  );
}

/** Figures of the session in progress, or of the last one. */
function Figures() {
  const { phase } = useConnection();
  const wasLive = useStore(timeline).totalMs !== undefined;
  const wasCall = useStore(lastTransport) === PHONE;
  if (!wasCall) return wasLive ? <FiguresPanel /> : null;
  return phase.name === "live" || phase.name === "ending" ? <LiveFigures /> : <CallCard />;
}

/** Without this the runner notices a closed tab only seconds later. */
function endOnLeave(): () => void {
  const leave = () => void connection.end();
  addEventListener("pagehide", leave);
  return () => removeEventListener("pagehide", leave);
}

function Header({ runner }: { runner: RunnerStatus }) {
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

/** How to connect, and with which devices. */
function Setup() {
  const { phase, choices, chosen, onPhone } = useConnection();
  const open = isOpen(phase);
  const status = useStore(runnerStatus);
  const accepted = status.kind === "ready" ? status.transports : [];
  return (
    <section aria-label="Setup" className="mx-auto grid w-full max-w-2xl gap-5">
      {!open && choices.length > 1 && chosen && (
        <ChoiceField
          label="Connect over"
          value={chosen.name}
          options={choices.map(({ name, label, hint }) => ({ value: name, label, hint }))}
          onChange={chosenTransport.set}
        />
      )}
      {!open && onPhone && <PhoneFields accepted={accepted} onNumberTyped={keypad.continueNumber} />}
      <DeviceFields connection={connection} />
      {!open && <StartBodyEditor store={startBodyText} />}
    </section>
  );
}

function HelpDialog() {
  const open = useStore(helpOpen);
  const keysOn = useStore(singleKeys) === "on";
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (open) dialog.current?.showModal();
    else dialog.current?.close();
  }, [open]);
  return (
    <dialog
      ref={dialog}
      aria-labelledby="help-title"
      className="m-auto w-[min(30rem,calc(100vw-2rem))] rounded-2xl border border-line bg-surface p-6 text-ink shadow-xl backdrop:bg-black/40"
      onClose={() => helpOpen.set(false)}
      onClick={(event) => {
        if (event.target === dialog.current) helpOpen.set(false); // the backdrop
      }}
    >
      <div className="flex items-start justify-between">
        <h2 id="help-title" className="text-lg font-semibold">
          Talking to your bot
        </h2>
        <IconButton icon="close" label="Close" className="-mt-2 -mr-2" onClick={() => helpOpen.set(false)} />
      </div>
      <p className="mt-1 text-muted">
        Connect and talk as you would on the phone. Your bot answers when you pause; talk over it to
        interrupt. The circle in the middle is your bot's voice, the ring around it is yours.
      </p>
      <h3 className="mt-5 mb-2 text-sm font-semibold">Shortcuts</h3>
      <KeyList keys={shortcuts} />
      <label className="mt-5 flex cursor-pointer items-center gap-2.5 text-sm">
        <input
          type="checkbox"
          className="size-4 accent-(--accent)"
          checked={keysOn}
          onChange={(event) => singleKeys.set(event.target.checked ? "on" : "off")}
        />
        Use these shortcuts
      </label>
    </dialog>
  );
}
