import { useId } from "react";

interface ValueFieldProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
}

/** A secret on its way in; certificates and keys have several lines. */
export function ValueField({ label, value, onChange }: ValueFieldProps) {
  const id = useId();
  return (
    <div className="min-w-0">
      <label className="mb-1.5 block text-[0.8125rem] font-medium text-muted" htmlFor={id}>
        {label}
      </label>
      <textarea
        id={id}
        rows={2}
        className="block w-full resize-y rounded-xl border border-edge bg-surface p-3 font-mono text-[0.8125rem] leading-relaxed hover:border-ink"
        spellCheck={false}
        autoCapitalize="off"
        autoComplete="off"
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
    </div>
  );
}
