const NEARLY_FULL = 0.8;

/** How much of something is used, as a bar. */
export function Meter({ label, used, limit }: { label: string; used: number; limit: number }) {
  const share = limit > 0 ? Math.min(used / limit, 1) : 1;
  return (
    <div
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={limit}
      aria-valuenow={used}
      className="h-2 w-full max-w-48 overflow-hidden rounded-full bg-sunken"
    >
      <div
        className={`h-full rounded-full ${share < NEARLY_FULL ? "bg-accent" : "bg-warn"}`}
        style={{ width: `${share * 100}%`, minWidth: used > 0 ? "0.25rem" : 0 }}
      />
    </div>
  );
}
