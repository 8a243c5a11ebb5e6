import { useId } from "react";
import { Icon, type IconName } from "./icon.tsx";

interface SelectFieldProps {
  label: string;
  icon?: IconName;
  value: string;
  options: { value: string; label: string }[];
  disabled?: boolean;
  onChange: (value: string) => void;
}

/** The browser's own list: right on a phone, and for every screen reader. */
export function SelectField(props: SelectFieldProps) {
  const id = useId();
  return (
    <div className="min-w-0">
      <label className="mb-1.5 block text-[0.8125rem] font-medium text-muted" htmlFor={id}>
        {props.label}
      </label>
      <div className="relative flex items-center">
        {props.icon && (
          <Icon name={props.icon} className="pointer-events-none absolute left-3 size-4 text-muted" />
        )}
        <select
          id={id}
          className={`h-11 w-full min-w-0 appearance-none truncate rounded-xl border border-edge bg-surface pr-9 text-sm text-ink transition-colors hover:border-ink disabled:opacity-60 ${props.icon ? "pl-9" : "pl-3"}`}
          disabled={props.disabled}
          value={props.value}
          onChange={(event) => props.onChange(event.target.value)}
        >
          {props.options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.label}
            </option>
          ))}
        </select>
        <Icon name="chevron" className="pointer-events-none absolute right-3 size-4 rotate-90 text-muted" />
      </div>
    </div>
  );
}
