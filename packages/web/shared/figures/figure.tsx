/** One figure with its name, and a few words about it. */
export interface FigureProps {
  name: string;
  /** Shown on hover. */
  hint: string;
  value: string;
  note: string;
  /** Something is not as it should be. */
  alarming?: boolean;
}

export function Figure({ name, hint, value, note, alarming = false }: FigureProps) {
  const look = alarming ? "text-warn" : "";
  return (
    <div className="bg-surface px-4 py-2.5" title={hint}>
      <dt className="text-[0.8125rem] text-muted">{name}</dt>
      <dd className={`mt-0.5 text-lg font-semibold tracking-tight tabular-nums ${look}`}>{value}</dd>
      <dd className="min-h-4 truncate text-xs text-muted tabular-nums">{note}</dd>
    </div>
  );
}

export const figureGrid =
  "grid grid-cols-2 gap-px overflow-hidden rounded-2xl border border-line bg-line sm:grid-cols-4";
