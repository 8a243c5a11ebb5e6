import { surroundingNames } from "@vocalhost/simulator";
import { SelectField } from "../select-field.tsx";
import { useStore } from "../use-store.ts";
import { chosenBackground, chosenBackgroundLevel } from "./phone-state.ts";

const labels: Record<(typeof surroundingNames)[number], string> = {
  talker: "Somebody talking",
  babble: "Many people talking",
  music: "Music",
  noise: "Noise",
};
const LEVELS_DB = ["0", "5", "10", "15", "20"];

/** What else is heard on the line, to try a bot in a noisy place. */
export function BackgroundFields() {
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
