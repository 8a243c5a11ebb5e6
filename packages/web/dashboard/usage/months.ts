/** `2026-11`, in UTC as everything that is billed. */
export function monthOf(nowMs: number): string {
  return new Date(nowMs).toISOString().slice(0, 7);
}

/** The newest first. */
export function lastMonths(nowMs: number, count: number): string[] {
  const now = new Date(nowMs);
  return Array.from({ length: count }, (_, back) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back)).toISOString().slice(0, 7),
  );
}

const title = new Intl.DateTimeFormat("en", { month: "long", year: "numeric", timeZone: "UTC" });

export function monthTitle(month: string): string {
  return title.format(new Date(`${month}-01T00:00:00Z`));
}
