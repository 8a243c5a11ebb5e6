import { useEffect, useState } from "react";
import { Button } from "../../shared/button.tsx";
import type { CallChoice, TransportChoice } from "../../shared/connection/open-session.ts";
import { chosenMicrophone, chosenSpeaker } from "../../shared/devices/chosen-devices.ts";
import { toClock } from "../../shared/duration.ts";
import type { Phase } from "../../shared/events/phase.ts";
import { isAboutMicrophone } from "../../shared/events/problem.ts";
import { nowMs } from "../../shared/now.ts";
import { carrierTitle, PHONE, toCallChoice } from "../../shared/phone/call-choice.ts";
import { chosenCarrier, fromNumber, toNumber } from "../../shared/phone/phone-state.ts";
import { parseStartBody } from "../../shared/start-body/parse-start-body.ts";
import { useStore } from "../../shared/use-store.ts";
import { FilterPanel } from "../../shared/visuals/filter-panel.tsx";
import { LevelBar } from "../../shared/visuals/level-bar.tsx";
import { Orb } from "../../shared/visuals/orb.tsx";
import { Ribbon } from "../../shared/visuals/ribbon.tsx";
import { useAgentName } from "../agents/agent-name.ts";
import { LinkButton } from "../ui/link-button.tsx";
import { Alert } from "../ui/notice.tsx";
import { talkWords, toHostedProblem } from "./talk-words.ts";
import { accepted, startBodyText, type Talk } from "./talk.ts";

/** The voices, the state in words, and what can be pressed. */
export function Stage({ talk, chosen }: { talk: Talk; chosen: TransportChoice }) {
  const { connection } = talk;
  const phase = useStore(connection.phase);
  const call = useCallChoice(chosen);
  const carrier = chosen.name === PHONE ? (call ? carrierTitle(call.carrier) : "a carrier") : undefined;
  const now = { phase, speaking: useStore(talk.speaking), muted: useStore(connection.muted), carrier };
  const words = talkWords(now);
  return (
    <section aria-label="Conversation" className="mx-auto max-w-xl text-center">
      <Orb
        connection={connection}
        restingIcon={chosen.name === PHONE ? "phone" : "microphone"}
        size="size-[clamp(8.5rem,22dvh,12rem)]"
      />
      <div aria-live="polite" aria-atomic="true">
        <h2 className="mt-1 text-xl font-semibold tracking-tight text-balance">{words.title}</h2>
        {words.note && <p className="mt-1 text-balance text-muted">{words.note}</p>}
      </div>
      {phase.name === "failed" && <Failure phase={phase} />}
      {phase.name === "live" && !phase.interrupted && <Line phase={phase} label={carrier ?? chosen.label} />}
      <div className="mt-5 flex flex-wrap items-center justify-center gap-3">
        <Controls {...{ talk, chosen, call }} />
      </div>
      {phase.name === "live" && (
        <div className="mt-6 grid gap-4">
          <Ribbon connection={connection} latency={talk.latency} />
          <FilterPanel connection={connection} />
          <div className="grid grid-cols-2 gap-4 text-left text-[0.8125rem] text-muted">
            <div>
              Your voice
              <LevelBar connection={connection} />
            </div>
            <div>
              The bot’s voice
              <LevelBar connection={connection} who="bot" />
            </div>
          </div>
        </div>
      )}
    </section>
  );
}

function Failure({ phase }: { phase: Extract<Phase, { name: "failed" }> }) {
  const name = useAgentName();
  const { detail, advice } = toHostedProblem(phase.problem);
  return (
    <div className="mt-4 text-left">
      <Alert
        title={detail ?? advice}
        action={
          <LinkButton to="/agents/$name/logs" params={{ name }} icon="log">
            Logs
          </LinkButton>
        }
      >
        {detail && advice}
      </Alert>
    </div>
  );
}

function Line({ phase, label }: { phase: Extract<Phase, { name: "live" }>; label: string }) {
  const [now, setNow] = useState(nowMs);
  useEffect(() => {
    const timer = setInterval(() => setNow(nowMs()), 1000);
    return () => clearInterval(timer);
  }, []);
  return (
    <p className="mt-1 text-muted tabular-nums">
      {toClock(now - phase.sinceMs)} · {label}
    </p>
  );
}

interface ControlsProps {
  talk: Talk;
  chosen: TransportChoice;
  call: CallChoice | undefined;
}

function Controls({ talk, chosen, call }: ControlsProps) {
  const { connection } = talk;
  const phase = useStore(connection.phase);
  const muted = useStore(connection.muted);
  const blocked = useStore(connection.playbackBlocked);
  const connect = useConnect({ talk, chosen, call });
  const end = () => void connection.end();
  switch (phase.name) {
    case "connecting":
      return <Button onClick={end}>Cancel</Button>;
    case "ending":
      return <Button disabled>Hanging up</Button>;
    case "live":
      return (
        <>
          {blocked && (
            <Button look="primary" icon="speaker" onClick={() => connection.allowPlayback()}>
              Turn on sound
            </Button>
          )}
          <Button
            icon={muted ? "microphone-off" : "microphone"}
            aria-pressed={muted}
            className="aria-pressed:border-warn aria-pressed:bg-warn-soft aria-pressed:text-warn"
            onClick={() => connection.setMuted(!muted)}
          >
            {muted ? "Unmute" : "Mute"}
          </Button>
          <Button look="danger" icon="hang-up" onClick={end}>
            Hang up
          </Button>
        </>
      );
    case "idle":
    case "ended":
    case "failed":
      return <Beginning {...{ phase, connect }} onPhone={chosen.name === PHONE} />;
    default:
      return phase satisfies never;
  }
}

function Beginning(props: {
  phase: Extract<Phase, { name: "idle" | "ended" | "failed" }>;
  connect: ((useMicrophone: boolean) => void) | undefined;
  onPhone: boolean;
}) {
  const { phase, connect, onPhone } = props;
  const name = useAgentName();
  const action = onPhone ? "Call" : "Start a session";
  const label = { idle: action, ended: onPhone ? "Call again" : "Start another", failed: "Try again" };
  return (
    <>
      <Button
        look="primary"
        icon={onPhone ? "phone" : "microphone"}
        disabled={!connect}
        onClick={() => connect?.(true)}
      >
        {label[phase.name]}
      </Button>
      {phase.name === "failed" && isAboutMicrophone(phase.problem.code) && (
        <Button disabled={!connect} onClick={() => connect?.(false)}>
          Continue without it
        </Button>
      )}
      {phase.name === "ended" && (
        <LinkButton to="/agents/$name/sessions" params={{ name }} icon="log">
          Sessions
        </LinkButton>
      )}
    </>
  );
}

/** Undefined while something that was typed makes no sense. */
function useConnect({ talk, chosen, call }: ControlsProps): ((useMicrophone: boolean) => void) | undefined {
  const body = parseStartBody(useStore(startBodyText));
  if (body.kind === "mistake" || (chosen.name === PHONE && !call)) return undefined;
  return (useMicrophone) =>
    void talk.connection.connect({
      transport: chosen,
      useMicrophone,
      microphoneId: chosenMicrophone.get() || undefined,
      speakerId: chosenSpeaker.get() || undefined,
      body: body.kind === "value" ? body.value : undefined,
      call,
    });
}

function useCallChoice(chosen: TransportChoice): CallChoice | undefined {
  const requested = { carrier: useStore(chosenCarrier), from: useStore(fromNumber), to: useStore(toNumber) };
  return chosen.name === PHONE ? toCallChoice(requested, accepted) : undefined;
}
