import { useEffect, type CSSProperties } from "react";
import { useStore } from "../../shared/use-store.ts";
import { isOpen } from "../../shared/events/phase.ts";
import { useConnection } from "../connection/use-connection.ts";
import { useRunnerStatus } from "../connection/use-runner-status.ts";
import { EventDrawer } from "../events/event-drawer.tsx";
import { FiguresPanel } from "../figures/figures-panel.tsx";
import { PHONE } from "../../shared/phone/carriers.ts";
import { CallCard } from "../../shared/phone/call-card.tsx";
import { LiveFigures } from "../figures/live-figures.tsx";
import { Conversation } from "../../shared/conversation/conversation.tsx";
import { connection, keypad, lastTransport, logOpen, timeline, transcript } from "../state/client-state.ts";
import { Header } from "./header.tsx";
import { HelpDialog } from "./help-dialog.tsx";
import { Setup } from "./setup.tsx";
import { Stage } from "./stage.tsx";
import { useShortcuts } from "./use-shortcuts.ts";

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
