import { useEffect, useState } from "react";
import { Button } from "../../shared/button.tsx";
import { toClock } from "../../shared/duration.ts";
import type { Attendee } from "../../shared/events/connection-event.ts";
import type { Phase } from "../../shared/events/phase.ts";
import { problem, type Problem } from "../../shared/events/problem.ts";
import { Icon } from "../../shared/icon.tsx";
import { nowMs } from "../../shared/now.ts";
import { carrierTitle } from "../../shared/phone/call-choice.ts";
import { finishedCall } from "../../shared/phone/phone-state.ts";
import { useCopy } from "../../shared/use-copy.ts";
import { useStore } from "../../shared/use-store.ts";
import { FilterPanel } from "../../shared/visuals/filter-panel.tsx";
import { Orb } from "../../shared/visuals/orb.tsx";
import { Ribbon } from "../../shared/visuals/ribbon.tsx";
import { useConnection } from "../connection/use-connection.ts";
import { inviteInto, type RunnerStatus } from "../runner/runner.ts";
import { attendees, connection, latency, sessionId, speaking } from "../state/client-state.ts";
import { Controls } from "./controls.tsx";
import { attendeeName, callWords, statusWords, type StatusWords } from "./status-words.ts";

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

/** The participants of the room, and a button to invite others. */
function Attendees() {
  const present = useStore(attendees);
  if (present.length === 0) return null;
  return (
    <section aria-label="In the room" className="mt-4 grid justify-items-center gap-3">
      <ul className="flex flex-wrap justify-center gap-2">
        {present.map((attendee) => (
          <AttendeeBadge key={attendee.identity} attendee={attendee} />
        ))}
      </ul>
      <Invite />
    </section>
  );
}

function AttendeeBadge({ attendee }: { attendee: Attendee }) {
  const name = attendeeName(attendee);
  return (
    <li
      className={`rounded-full border px-3 py-1 text-sm ${attendee.isSpeaking ? "border-accent text-accent" : "border-line text-muted"}`}
    >
      {name}
      {attendee.isSpeaking && <span className="sr-only"> is speaking</span>}
    </li>
  );
}

function Invite() {
  const id = useStore(sessionId);
  const { copied, copy } = useCopy();
  const [problem, setProblem] = useState("");
  if (id === "") return null;
  const invite = async () => {
    try {
      copy(await inviteInto(id));
      setProblem("");
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <>
      <Button icon={copied ? "check" : "copy"} onClick={() => void invite()}>
        {copied ? "Copied" : "Copy a link for one more"}
      </Button>
      {problem && <p className="text-sm text-muted">{problem}</p>}
    </>
  );
}

/** A problem and how to solve it. */
function ProblemCard({ runner }: { runner: RunnerStatus }) {
  const { phase, choices } = useConnection();
  const found = phase.name === "failed" ? phase.problem : problemOfRunner(runner, choices.length === 0);
  if (!found || phase.name === "connecting" || phase.name === "live") return null;
  const titled = phase.name === "failed"; // the heading above already says it
  return (
    <div
      role="alert"
      className="mx-auto mt-4 flex max-w-lg gap-3 rounded-2xl border border-danger/30 bg-danger-soft p-4 text-left"
    >
      <Icon name="warning" className="mt-0.5 size-5 text-danger" />
      <div className="min-w-0">
        {!titled && <p className="font-semibold">{found.title}</p>}
        {found.detail && <p className="font-medium break-words text-pretty">{found.detail}</p>}
        <p className="text-pretty">{found.advice}</p>
      </div>
    </div>
  );
}

function problemOfRunner(runner: RunnerStatus, noChoice: boolean): Problem | undefined {
  if (runner.kind === "unreachable") return problem("runner-unreachable");
  if (runner.kind === "ready" && noChoice) {
    return problem("transport-unknown", `Accepted: ${runner.transports.join(", ") || "nothing"}`);
  }
  return undefined;
}
