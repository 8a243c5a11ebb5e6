import { ChoiceField } from "../../shared/choice-field.tsx";
import { isOpen } from "../../shared/events/phase.ts";
import { DeviceFields } from "../../shared/devices/device-fields.tsx";
import { PhoneFields } from "../../shared/phone/phone-fields.tsx";
import { StartBodyEditor } from "../../shared/start-body/start-body-editor.tsx";
import { useStore } from "../../shared/use-store.ts";
import { useConnection } from "../connection/use-connection.ts";
import { runnerStatus } from "../connection/use-runner-status.ts";
import { chosenTransport, connection, keypad, startBodyText } from "../state/client-state.ts";

/** How to connect, and with which devices. */
export function Setup() {
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
