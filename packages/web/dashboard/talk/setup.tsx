import { ChoiceField } from "../../shared/choice-field.tsx";
import { isOpen } from "../../shared/events/phase.ts";
import type { TransportChoice } from "../../shared/connection/open-session.ts";
import { DeviceFields } from "../../shared/devices/device-fields.tsx";
import { PHONE } from "../../shared/phone/carriers.ts";
import { PhoneFields } from "../../shared/phone/phone-fields.tsx";
import { StartBodyEditor } from "../../shared/start-body/start-body-editor.tsx";
import { useStore } from "../../shared/use-store.ts";
import { accepted, choices, chosenTransport, startBodyText, type Talk } from "./talk.ts";

/** Over what to talk, with which devices, and what the bot is told. */
export function Setup({ talk, chosen }: { talk: Talk; chosen: TransportChoice }) {
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
