import { carriers } from "@vocalhost/carriers";
import { surroundingNames } from "@vocalhost/simulator";
import { useId } from "react";
import { ChoiceField } from "../choice-field.tsx";
import { SelectField } from "../select-field.tsx";
import { useStore } from "../use-store.ts";
import { carriersAmong, carrierTitle, parsePhoneNumber, toCarrier } from "./call-choice.ts";
import {
  chosenBackground,
  chosenBackgroundLevel,
  chosenCarrier,
  fromNumber,
  toNumber,
} from "./phone-state.ts";

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

const labels: Record<(typeof surroundingNames)[number], string> = {
  talker: "Another person talking",
  babble: "Many people talking",
  music: "Music",
  noise: "Noise",
};
const LEVELS_DB = ["0", "5", "10", "15", "20"];

/** Background sound on the line, to try a bot in a noisy place. */
function BackgroundFields() {
  const background = useStore(chosenBackground);
  const level = useStore(chosenBackgroundLevel);
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <SelectField
        label="In the background"
        icon="speaker"
        value={background}
        options={[
          { value: "", label: "Nothing" },
          ...surroundingNames.map((name) => ({ value: name, label: labels[name] })),
        ]}
        onChange={chosenBackground.set}
      />
      {background !== "" && (
        <SelectField
          label="How loud"
          icon="voice"
          value={level}
          options={LEVELS_DB.map((level) => ({ value: level, label: `${level} dB below a usual voice` }))}
          onChange={chosenBackgroundLevel.set}
        />
      )}
    </div>
  );
}

interface NumberFieldProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
}

function NumberField({ label, value, onChange }: NumberFieldProps) {
  const id = useId();
  const number = parsePhoneNumber(value);
  const mistake = number.kind === "mistake" ? number.message : "";
  return (
    <div className="min-w-0">
      <label className="mb-1.5 block text-[0.8125rem] font-medium text-muted" htmlFor={id}>
        {label}
      </label>
      <input
        id={id}
        type="tel"
        className="block h-11 w-full min-w-0 rounded-xl border border-edge bg-surface px-3.5 text-base tabular-nums transition-colors hover:border-ink aria-invalid:border-danger sm:text-sm"
        autoComplete="off"
        spellCheck={false}
        aria-invalid={mistake !== ""}
        aria-describedby={`${id}-mistake`}
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
      <p id={`${id}-mistake`} role="status" className="text-[0.8125rem] text-danger not-empty:mt-1.5">
        {mistake}
      </p>
    </div>
  );
}
