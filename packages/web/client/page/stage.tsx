import { useEffect, useState } from "react";
import { toClock } from "../../shared/duration.ts";
import { useStore } from "../../shared/use-store.ts";
import type { Phase } from "../../shared/events/phase.ts";
import type { RunnerStatus } from "../runner/runner-status.ts";
import { nowMs } from "../../shared/now.ts";
import { useConnection } from "../connection/use-connection.ts";
import { callWords } from "./call-words.ts";
import { carrierTitle } from "../../shared/phone/carriers.ts";
import { finishedCall } from "../../shared/phone/phone-state.ts";
import { FilterPanel } from "../../shared/visuals/filter-panel.tsx";
import { Orb } from "../../shared/visuals/orb.tsx";
import { Ribbon } from "../../shared/visuals/ribbon.tsx";
import { connection, latency, speaking } from "../state/client-state.ts";
import { Attendees } from "./attendees.tsx";
import { Controls } from "./controls.tsx";
import { ProblemCard } from "./problem-card.tsx";
import { statusWords, type StatusWords } from "./status-words.ts";

/** The middle of the page: the voices, the state, the one thing to press. */
export function Stage({ runner }: { runner: RunnerStatus }) {
  const { phase, choices, onPhone } = useConnection();
  const words = useWords(runner);
  const troubled = phase.name === "failed" || runner.kind === "unreachable";
  const cannotConnect = runner.kind === "ready" && choices.length === 0;
  return (
    <section aria-label="Conversation with your bot" className="px-4 pt-4 sm:px-6">
      <div className="mx-auto max-w-2xl text-center">
        <Orb connection={connection} restingIcon={onPhone ? "phone" : "microphone"} />
        <div aria-live="polite" aria-atomic="true">
          <h1 className="mt-2 text-2xl font-semibold tracking-tight text-balance">
            {troubled && phase.name !== "failed" ? "Your bot is not running" : words.title}
          </h1>
          {words.note && !troubled && !cannotConnect && (
            <p className="mt-1 text-muted text-balance">{words.note}</p>
          )}
        </div>
        <ProblemCard runner={runner} />
        {phase.name === "live" && !phase.interrupted && <SessionLine phase={phase} />}
        {phase.name === "live" && <Attendees />}
        <Controls />
        {phase.name === "live" && (
          <div className="mt-6">
            <Ribbon connection={connection} latency={latency} />
            <FilterPanel connection={connection} />
          </div>
        )}
      </div>
    </section>
  );
}

function useWords(runner: RunnerStatus): StatusWords {
  const { phase, muted, onPhone, call } = useConnection();
  const now = { phase, muted, speaking: useStore(speaking) };
  const to = call?.to ?? "";
  const summary = useStore(finishedCall)?.summary;
  const carrier = call ? carrierTitle(call.carrier) : "";
  const ofCall =
    onPhone && runner.kind !== "looking" ? callWords({ ...now, to, carrier, summary }) : undefined;
  return ofCall ?? statusWords({ ...now, runner });
}

/** How long the session has lasted, and over what. */
function SessionLine({ phase }: { phase: Extract<Phase, { name: "live" }> }) {
  const [now, setNow] = useState(nowMs);
  const { choices, call, onPhone } = useConnection();
  useEffect(() => {
    const timer = setInterval(() => setNow(nowMs()), 1000);
    return () => clearInterval(timer);
  }, []);
  const transport = choices.find(({ name }) => name === phase.transport)?.label ?? phase.transport;
  const label = onPhone && call ? carrierTitle(call.carrier) : transport;
  return (
    <p className="mt-1 text-muted tabular-nums">
      {toClock(now - phase.sinceMs)} · {label}
    </p>
  );
}
