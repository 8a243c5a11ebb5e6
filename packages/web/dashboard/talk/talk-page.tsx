import { useEffect } from "react";
import { ChoiceField } from "../../shared/choice-field.tsx";
import type { TransportChoice } from "../../shared/connection/open-session.ts";
import { Conversation } from "../../shared/conversation/conversation.tsx";
import { DeviceFields } from "../../shared/devices/device-fields.tsx";
import { isOpen } from "../../shared/events/phase.ts";
import { CallCard } from "../../shared/phone/call-card.tsx";
import { PHONE } from "../../shared/phone/call-choice.ts";
import { PhoneFields } from "../../shared/phone/phone-fields.tsx";
import { isPhoneKey } from "../../shared/phone/phone-keys.ts";
import { StartBodyEditor } from "../../shared/start-body/start-body-editor.tsx";
import { useStore } from "../../shared/use-store.ts";
import { useAgentName, useAgentRegion } from "../agents/agent-name.ts";
import { useMayChange, useMe } from "../data/me.ts";
import { Card } from "../ui/card.tsx";
import { Alert } from "../ui/notice.tsx";
import { Stage } from "./stage.tsx";
import { accepted, choices, chosenTransport, startBodyText, useTalk, type Talk } from "./talk.ts";

/** A conversation with the hosted agent, here in the page. */
export function TalkPage() {
  const mayStart = useMayChange();
  if (!mayStart) {
    return (
      <Alert tone="busy" title="Your role is read-only">
        Sessions use up minutes, so only owners and admins can start them. Ask one of them to change your
        role.
      </Alert>
    );
  }
  return <TalkPanel />;
}

function TalkPanel() {
  const { organization } = useMe();
  const talk = useTalk({ organization, agent: useAgentName(), region: useAgentRegion() });
  const phase = useStore(talk.connection.phase);
  const { entries } = useStore(talk.transcript);
  const requested = useStore(chosenTransport);
  const used = useStore(talk.lastTransport);
  const chosen = choices.find(({ name }) => name === (isOpen(phase) ? used : requested)) ?? choices[0];
  const onPhone = chosen?.name === PHONE;
  useEffect(() => {
    if (chosen) void talk.connection.prepare(chosen);
  }, [talk, chosen]);
  usePhoneKeys(talk, onPhone && isOpen(phase));
  if (!chosen) return null;
  return (
    <div className="grid items-start gap-6 lg:grid-cols-[minmax(0,1fr)_24rem]">
      <div className="grid gap-6">
        <Card>
          <Stage talk={talk} chosen={chosen} />
          <Setup talk={talk} chosen={chosen} />
        </Card>
        {used === PHONE && !isOpen(phase) && <CallCard />}
      </div>
      <div
        className={`overflow-hidden rounded-2xl border border-line bg-surface ${onPhone && isOpen(phase) ? "h-[39rem]" : "h-[34rem] max-lg:h-[26rem]"} ${isOpen(phase) || entries.length > 0 ? "" : "max-lg:hidden"}`}
      >
        <Conversation
          onSend={(text) => talk.connection.sendText(text)}
          keypad={talk.keypad}
          {...{ phase, entries, onPhone }}
        />
      </div>
    </div>
  );
}

/** During a call the keys of the keyboard are those of the phone. */
function usePhoneKeys({ keypad }: Talk, active: boolean): void {
  useEffect(() => {
    if (!active) return undefined;
    const press = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || !isPhoneKey(event.key)) return;
      if (event.target instanceof Element && event.target.closest("input, textarea, select")) return;
      keypad.press(event.key);
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, [keypad, active]);
}

/** Over what to talk, with which devices, and what the bot is told. */
function Setup({ talk, chosen }: { talk: Talk; chosen: TransportChoice }) {
  const open = isOpen(useStore(talk.connection.phase));
  return (
    <section aria-label="Setup" className="mt-6 grid gap-5 border-t border-line pt-5">
      {!open && (
        <ChoiceField
          label="Connect over"
          value={chosen.name}
          options={choices.map(({ name, label, hint }) => ({ value: name, label, hint }))}
          onChange={chosenTransport.set}
        />
      )}
      {!open && chosen.name === PHONE && (
        <PhoneFields accepted={accepted} onNumberTyped={talk.keypad.continueNumber} />
      )}
      <DeviceFields connection={talk.connection} withLevel={false} />
      {!open && <StartBodyEditor store={startBodyText} />}
    </section>
  );
}
