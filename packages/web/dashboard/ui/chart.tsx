import { lazy, Suspense } from "react";
import type { ChartProps } from "./chart-canvas.tsx";

const ChartCanvas = lazy(() =>
  import("./chart-canvas.tsx").then((module) => ({ default: module.ChartCanvas })),
);

/** Lines or bars over time, with a summary in words for screen readers. */
export function Chart(props: ChartProps) {
  return (
    <figure className="grid gap-2">
      <figcaption className="sr-only">{props.summary}</figcaption>
      <div className="h-44">
        <Suspense fallback={<div className="h-full rounded-lg bg-sunken/60" />}>
          <ChartCanvas {...props} />
        </Suspense>
      </div>
      <ul className="flex flex-wrap gap-x-4 gap-y-1 text-[0.8125rem] text-muted">
        {props.series.map(({ label, tone }) => (
          <li key={label} className="flex items-center gap-1.5">
            <span aria-hidden="true" className={`h-0.5 w-4 rounded-full ${dots[tone]}`} />
            {label}
          </li>
        ))}
      </ul>
    </figure>
  );
}

const dots = { accent: "bg-accent", warn: "bg-warn", muted: "bg-edge", danger: "bg-danger" } as const;
