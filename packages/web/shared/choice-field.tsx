import { useId } from "react";

interface ChoiceFieldProps {
  label: string;
  value: string;
  options: { value: string; label: string; hint: string }[];
  /** Two in a row where there is little room. */
  dense?: boolean;
  onChange: (value: string) => void;
}

/** A few exclusive choices side by side. */
export function ChoiceField({ label, value, options, dense = false, onChange }: ChoiceFieldProps) {
  const name = useId();
  return (
    <fieldset className="min-w-0">
      <legend className="mb-1.5 text-[0.8125rem] font-medium text-muted">{label}</legend>
      <div
        className={`grid gap-2 sm:auto-cols-fr sm:grid-flow-col sm:grid-cols-none ${dense ? "grid-cols-2" : ""}`}
      >
        {options.map((option) => (
          <label
            key={option.value}
            className="relative cursor-pointer rounded-xl border border-edge bg-surface px-4 py-2.5 transition-colors hover:border-ink has-checked:border-accent has-checked:bg-accent-soft has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-accent"
          >
            <input
              type="radio"
              className="sr-only"
              name={name}
              value={option.value}
              checked={option.value === value}
              onChange={() => onChange(option.value)}
            />
            <span className="block text-sm font-semibold">{option.label}</span>
            <span className="block text-[0.8125rem] leading-snug text-muted">{option.hint}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}
