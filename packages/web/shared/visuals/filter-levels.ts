import type { FilterView } from "@vocalhost/protocol";

const SHOWN = 100; // ten seconds
const FLOOR_DB = -70;
const CEILING_DB = -10;

/** The last levels, the newest at the end; undefined where there are none yet. */
export function toSteps({ levels }: FilterView, side: "beforeDb" | "afterDb"): (number | undefined)[] {
  const shown = levels.slice(-SHOWN).map((level) => level[side]);
  return [...Array.from({ length: SHOWN - shown.length }, () => undefined), ...shown];
}

/** A line from left to right through what there is. */
export function toPath(levels: (number | undefined)[], width: number, height: number): string {
  const step = width / Math.max(1, levels.length - 1);
  return levels
    .flatMap((level, index) => (level === undefined ? [] : [{ level, x: index * step }]))
    .map(
      ({ level, x }, index) => `${index === 0 ? "M" : "L"}${x.toFixed(1)} ${toY(level, height).toFixed(1)}`,
    )
    .join("");
}

function toY(level: number, height: number): number {
  const share = (Math.max(FLOOR_DB, Math.min(CEILING_DB, level)) - FLOOR_DB) / (CEILING_DB - FLOOR_DB);
  return (1 - share) * (height - 4) + 2;
}
