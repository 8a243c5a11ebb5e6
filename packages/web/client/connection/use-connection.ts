import type { CallChoice, TransportChoice } from "../../shared/connection/open-session.ts";
import { chosenMicrophone, chosenSpeaker } from "../../shared/devices/chosen-devices.ts";
import { isOpen, type Phase } from "../../shared/events/phase.ts";
import { PHONE, toCallChoice } from "../../shared/phone/call-choice.ts";
import { chosenCarrier, fromNumber, toNumber } from "../../shared/phone/phone-state.ts";
import { parseStartBody } from "../../shared/start-body/parse-start-body.ts";
import { choicesFor } from "../../shared/transports/transports.ts";
import { useStore } from "../../shared/use-store.ts";
import { chosenTransport, connection, startBodyText } from "../state/client-state.ts";
import { runnerStatus } from "./use-runner-status.ts";

/** Everything a component may do with the connection. The client library is nowhere else. */
export interface ConnectionControls {
  phase: Phase;
  muted: boolean;
  choices: TransportChoice[];
  chosen: TransportChoice | undefined;
  /** Whether it is the phone that is chosen, or in use. */
  onPhone: boolean;
  /** Undefined while the numbers make no sense. */
  call: CallChoice | undefined;
  /** Whether pressing Connect would do something. */
  canConnect: boolean;
  connect: (options?: { useMicrophone: boolean }) => void;
  end: () => void;
  toggleMuted: () => void;
  sendText: (text: string) => void;
}

export function useConnection(): ConnectionControls {
  const phase = useStore(connection.phase);
  const muted = useStore(connection.muted);
  const status = useStore(runnerStatus);
  const wanted = useStore(chosenTransport);
  const body = parseStartBody(useStore(startBodyText));
  const choices = status.kind === "ready" ? choicesFor(status.transports) : [];
  const chosen = choices.find((choice) => choice.name === wanted) ?? choices[0];
  const onPhone = chosen?.name === PHONE;
  const call = useCallChoice();
  const isComplete = body.kind !== "mistake" && (!onPhone || call !== undefined);
  const canConnect = chosen !== undefined && !isOpen(phase) && isComplete;
  return {
    phase,
    muted,
    choices,
    chosen,
    onPhone,
    call,
    canConnect,
    connect({ useMicrophone } = { useMicrophone: true }) {
      if (!canConnect) return;
      void connection.connect({
        transport: chosen,
        useMicrophone,
        microphoneId: chosenMicrophone.get() || undefined,
        speakerId: chosenSpeaker.get() || undefined,
        body: body.kind === "value" ? body.value : undefined,
        call,
      });
    },
    end: () => void connection.end(),
    toggleMuted: () => connection.setMuted(!muted),
    sendText: (text) => connection.sendText(text),
  };
}

function useCallChoice(): CallChoice | undefined {
  const status = useStore(runnerStatus);
  const requested = { carrier: useStore(chosenCarrier), from: useStore(fromNumber), to: useStore(toNumber) };
  return toCallChoice(requested, status.kind === "ready" ? status.transports : []);
}
