import { carriers } from "@vocalhost/carriers";
import { ChoiceField } from "../choice-field.tsx";
import { useStore } from "../use-store.ts";
import { BackgroundFields } from "./background-fields.tsx";
import { toCarrier } from "./call-choice.ts";
import { carriersAmong, carrierTitle } from "./carriers.ts";
import { NumberField } from "./number-field.tsx";
import { chosenCarrier, fromNumber, toNumber } from "./phone-state.ts";

/** Through whom the call comes, and who calls whom. */
export function PhoneFields({
  accepted,
  onNumberTyped,
}: {
  /** Transports the other side takes. */
  accepted: string[];
  onNumberTyped: () => void;
}) {
  const carrier = toCarrier(useStore(chosenCarrier), accepted);
  return (
    <>
      {carrier && (
        <ChoiceField
          label="Carrier"
          dense
          value={carrier}
          options={carriersAmong(accepted).map((name) => ({
            value: name,
            label: carrierTitle(name),
            hint: carriers[name].hint,
          }))}
          onChange={chosenCarrier.set}
        />
      )}
      <div className="grid gap-4 sm:grid-cols-2">
        <NumberField
          label="Number to call"
          value={useStore(toNumber)}
          onChange={(value) => {
            toNumber.set(value);
            onNumberTyped();
          }}
        />
        <NumberField label="Calling from" value={useStore(fromNumber)} onChange={fromNumber.set} />
      </div>
      <BackgroundFields />
    </>
  );
}
