import type { FilterView } from "@vocalhost/protocol";
import { useEffect, useState } from "react";
import type { Connection } from "../connection/connection.ts";
import { ChoiceField } from "../choice-field.tsx";
import { readFilter, switchFilter } from "../connection/filter-remote.ts";
import { toPath, toSteps } from "./filter-levels.ts";

const LOOK_EVERY_MS = 300;
const LOOK_AGAIN_MS = 2_000;
const LOOKS_MAX = 3; // at a bot that may attach the filter late, or not at all
const WIDTH = 400;
const HEIGHT = 72;

/** A and B: what the microphone gives and what the voice filter leaves of it, and which of them the bot hears. */
export function FilterPanel({ connection }: { connection: Connection }) {
  const [view, setView] = useFilterView(connection);
  if (!view?.model) return null;
  const before = toSteps(view, "beforeDb");
  const after = toSteps(view, "afterDb");
  const choose = (value: string) => {
    const change = { isBypassed: value === "raw" };
    setView({ ...view, ...change }); // at once; the next look corrects it
    void switchFilter(connection.session?.filterAt, change);
  };
  return (
    <section aria-label="Voice filter" className="mt-6 text-left">
      <ChoiceField
        label={`Your bot hears (voice filter ${view.model})`}
        dense
        value={view.isBypassed ? "raw" : "filtered"}
        options={[
          { value: "filtered", label: "Filtered", hint: "only the voice at the microphone" },
          { value: "raw", label: "Raw", hint: "everything, to compare" },
        ]}
        onChange={choose}
      />
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        className="mt-3 h-18 w-full rounded-xl border border-line bg-surface"
        role="img"
        aria-label={`Your level: ${last(before)} dB raw, ${last(after)} dB filtered`}
      >
        <path d={toPath(before, WIDTH, HEIGHT)} className="fill-none stroke-muted" strokeWidth={1.5} />
        <path d={toPath(after, WIDTH, HEIGHT)} className="fill-none stroke-accent" strokeWidth={2} />
      </svg>
      <p className="mt-1.5 text-[0.8125rem] text-muted">
        The last ten seconds of you: <span className="font-medium text-ink">raw</span> in grey,{" "}
        <span className="font-medium text-accent">filtered</span> in colour. With a bot that repeats you, such
        as the parrot, you hear the difference.
      </p>
    </section>
  );
}

function last(levels: (number | undefined)[]): number {
  return Math.round(levels.findLast((level) => level !== undefined) ?? -90);
}

function useFilterView(
  connection: Connection,
): [FilterView | undefined, (view: FilterView | undefined) => void] {
  const [view, setView] = useState<FilterView>();
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>;
    let isGone = false;
    let looksLeft = LOOKS_MAX;
    const look = async (): Promise<void> => {
      const found = await readFilter(connection.session?.filterAt);
      if (isGone) return;
      setView(found);
      looksLeft = found?.model ? LOOKS_MAX : looksLeft - 1;
      if (looksLeft > 0) timer = setTimeout(() => void look(), found?.model ? LOOK_EVERY_MS : LOOK_AGAIN_MS);
    };
    void look();
    return () => {
      isGone = true;
      clearTimeout(timer);
    };
  }, [connection]);
  return [view, setView];
}
