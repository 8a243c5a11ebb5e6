import { useId } from "react";
import { parsePhoneNumber } from "./phone-number.ts";

interface NumberFieldProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
}

export function NumberField({ label, value, onChange }: NumberFieldProps) {
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
