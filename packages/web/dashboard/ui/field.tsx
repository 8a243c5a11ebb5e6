import { useId, type ComponentProps, type ReactNode } from "react";

interface FieldProps extends Omit<ComponentProps<"input">, "onChange" | "value"> {
  label: string;
  value: string;
  hint?: ReactNode;
  /** The error of the value. */
  problem?: string | undefined;
  onChange: (value: string) => void;
}

/** A line of text with its label, a hint, and what is wrong with it. */
export function TextField({ label, value, hint, problem, onChange, className = "", ...rest }: FieldProps) {
  const id = useId();
  return (
    <div className={`min-w-0 ${className}`}>
      <label className="mb-1.5 block text-[0.8125rem] font-medium text-muted" htmlFor={id}>
        {label}
      </label>
      <input
        id={id}
        type="text"
        value={value}
        aria-invalid={problem ? true : undefined}
        aria-describedby={hint || problem ? `${id}-note` : undefined}
        className={`h-11 w-full min-w-0 rounded-xl border bg-surface px-3 text-sm text-ink transition-colors placeholder:text-muted hover:border-ink disabled:opacity-60 ${problem ? "border-danger" : "border-edge"}`}
        onChange={(event) => onChange(event.target.value)}
        {...rest}
      />
      <FieldNote id={`${id}-note`} hint={hint} problem={problem} />
    </div>
  );
}

/** Whole numbers only, as text until they are sent. */
export function NumberField(props: FieldProps) {
  return <TextField inputMode="numeric" autoComplete="off" {...props} />;
}

export function FieldNote({
  id,
  hint,
  problem,
}: {
  id: string;
  hint: ReactNode;
  problem: string | undefined;
}) {
  if (!hint && !problem) return null;
  return (
    <p id={id} className={`mt-1.5 text-[0.8125rem] text-pretty ${problem ? "text-danger" : "text-muted"}`}>
      {problem ?? hint}
    </p>
  );
}

interface CheckFieldProps {
  label: string;
  checked: boolean;
  disabled?: boolean;
  onChange: (checked: boolean) => void;
}

export function CheckField({ label, checked, disabled, onChange }: CheckFieldProps) {
  return (
    <label className="flex min-h-9 cursor-pointer items-center gap-2.5 text-sm">
      <input
        type="checkbox"
        className="size-4 accent-(--accent)"
        checked={checked}
        disabled={disabled}
        onChange={(event) => onChange(event.target.checked)}
      />
      {label}
    </label>
  );
}
