import type { SessionMarks, StartTimeline } from "@vocalhost/protocol";
import type { SessionRow } from "@vocalhost/store/schema";

/** The steps of a start as they are stored, with those the instance has told of. */
export function withMarks({ timeline }: Pick<SessionRow, "timeline">, marks: SessionMarks = {}): string {
  const steps = Object.entries(marks).flatMap(([name, ms]: [string, number | undefined]) =>
    ms === undefined ? [] : [[`${name}Ms`, Math.round(ms)]],
  );
  return JSON.stringify({
    ...(JSON.parse(timeline) as StartTimeline),
    ...(Object.fromEntries(steps) as StartTimeline),
  });
}
