import { useQuery } from "@tanstack/react-query";
import { SelectField } from "../../shared/select-field.tsx";
import { queries } from "../data/queries.ts";
import { NumberField } from "../ui/field.tsx";
import type { FormRow } from "./configuration-form.ts";

interface SettingFieldProps {
  row: FormRow;
  value: string;
  problem: string | undefined;
  disabled: boolean;
  /** A note beside the hint. */
  note?: string | undefined;
  onChange: (value: string) => void;
}

/** The field of one setting, as its row says. */
export function SettingField({ row, value, problem, disabled, note, onChange }: SettingFieldProps) {
  const { field } = row;
  switch (field.kind) {
    case "number":
      return (
        <NumberField
          label={field.label}
          value={value}
          onChange={onChange}
          problem={problem}
          hint={field.hint}
        />
      );
    case "choice":
      return (
        <div>
          <SelectField
            label={field.label}
            {...(row.name === "audioFilter" ? { icon: "voice" as const } : {})}
            value={value}
            options={field.options.map(({ value: each, label }) => ({ value: each, label }))}
            disabled={disabled}
            onChange={onChange}
          />
          {field.hint !== undefined && <Hint>{field.hint}</Hint>}
          {note !== undefined && <Hint>{note}</Hint>}
        </div>
      );
    case "secret-set":
      return <SecretSetField label={field.label} value={value} disabled={disabled} onChange={onChange} />;
    default:
      return field satisfies never;
  }
}

function Hint({ children }: { children: string }) {
  return <p className="mt-1.5 text-[0.8125rem] text-pretty text-muted">{children}</p>;
}

function SecretSetField(props: {
  label: string;
  value: string;
  disabled: boolean;
  onChange: (value: string) => void;
}) {
  const sets = useQuery(queries.secretSets()).data?.sets ?? [];
  const names = sets.filter((each) => each.type !== "imagePullSecret").map(({ name }) => name);
  // A set that was deleted since is still what is configured.
  const isGone = props.value !== "" && !names.includes(props.value);
  return (
    <SelectField
      {...props}
      icon="secret"
      options={[
        { value: "", label: "None" },
        ...names.map((name) => ({ value: name, label: name })),
        ...(isGone ? [{ value: props.value, label: `${props.value} (not found)` }] : []),
      ]}
    />
  );
}
