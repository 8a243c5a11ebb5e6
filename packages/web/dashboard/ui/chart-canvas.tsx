import { useEffect, useRef, useState, useSyncExternalStore } from "react";
import uPlot from "uplot";
import { isDark, onThemeChange } from "../../shared/theme.ts";

export interface ChartProps {
  /** Unix seconds, rising. */
  times: number[];
  series: ChartSeries[];
  /** In one sentence: what the picture shows. */
  summary: string;
  /** How a value is written at the axis. */
  toText: (value: number) => string;
  /** The end of the axis at least; so that a flat line is not blown up. */
  atLeast?: number;
  /** Unix seconds the picture begins and ends with, where the data does not decide. */
  span?: [from: number, to: number];
}

export interface ChartSeries {
  label: string;
  values: (number | null)[];
  kind: "line" | "step" | "points" | "bars";
  tone: "accent" | "warn" | "muted" | "danger";
}

/** Drawn again when its data, its size or the theme changes. */
export function ChartCanvas({ times, series, toText, span, atLeast = 1 }: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const [width, setWidth] = useState(0);
  const dark = useSyncExternalStore(onThemeChange, isDark);
  const spanned = useRef(span);
  const shape = series.map(({ label, kind, tone }) => `${label} ${kind} ${tone}`).join();

  useEffect(() => {
    const { current } = place;
    if (!current) return undefined;
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry?.contentRect.width ?? 0)));
    observer.observe(current);
    return () => observer.disconnect();
  }, []);

  useEffect(() => {
    const { current } = place;
    if (!current || width === 0) return undefined;
    const made = new uPlot(
      optionsOf({
        spanned,
        series,
        toText,
        atLeast,
        width,
        height: current.clientHeight,
        colours: coloursOf(current),
      }),
      dataOf(times, series),
      current,
    );
    plot.current = made;
    return () => made.destroy();
    // The data is set below, without drawing everything anew.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [width, dark, shape]);

  useEffect(() => {
    spanned.current = span;
    plot.current?.setData(dataOf(times, series));
  }, [times, series, span]);

  return <div ref={place} aria-hidden="true" className="h-full min-w-0" />;
}

function dataOf(times: number[], series: ChartSeries[]): uPlot.AlignedData {
  return [times, ...series.map(({ values }) => values)];
}

type Colours = Record<"accent" | "warn" | "edge" | "danger" | "muted" | "line", string>;

function coloursOf(element: Element): Colours {
  const style = getComputedStyle(element);
  const read = (name: string) => style.getPropertyValue(`--${name}`);
  return {
    accent: read("accent"),
    warn: read("warn"),
    edge: read("edge"),
    danger: read("danger"),
    muted: read("muted"),
    line: read("line"),
  };
}

const TIME_STEPS_S = [1, 5, 10, 30, 60, 300, 600, 1_800, 3_600, 7_200, 21_600, 43_200, 86_400];
const FONT = "12px ui-sans-serif, system-ui, sans-serif";

const SPAN_MIN_S = 30;
const SECONDS_UP_TO_S = 600;

/** The time of day; with seconds where the whole picture is about minutes. */
function toClockTimes(seconds: number[]): string[] {
  const isShort = (seconds.at(-1) ?? 0) - (seconds[0] ?? 0) < SECONDS_UP_TO_S;
  const format = new Intl.DateTimeFormat(undefined, {
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
    ...(isShort ? { second: "2-digit" } : {}),
  });
  return seconds.map((second) => format.format(new Date(second * 1000)));
}

function optionsOf(input: {
  spanned: { current: [from: number, to: number] | undefined };
  series: ChartSeries[];
  toText: (value: number) => string;
  atLeast: number;
  width: number;
  height: number;
  colours: Colours;
}): uPlot.Options {
  const { colours, toText } = input;
  const axis = { stroke: colours.muted, font: FONT, ticks: { show: false } };
  return {
    width: input.width,
    height: input.height,
    legend: { show: false },
    cursor: { show: false },
    padding: [8, 8, 0, 0],
    scales: {
      x: {
        range: (_plot, min, max) => {
          const [from, to] = input.spanned.current ?? [min, max];
          return [Math.min(from, to - SPAN_MIN_S), to];
        },
      },
      y: { range: (_plot, _min, max) => [0, Math.max(input.atLeast, (max ?? 0) * 1.1)] },
    },
    axes: [
      {
        ...axis,
        size: 28,
        space: 80,
        incrs: TIME_STEPS_S,
        grid: { show: false },
        values: (_plot, seconds) => toClockTimes(seconds),
      },
      {
        ...axis,
        size: 64,
        grid: { stroke: colours.line, width: 1 },
        values: (_plot, values) => values.map(toText),
      },
    ],
    series: [{}, ...input.series.map((each) => seriesOf(each, colours))],
  };
}

function seriesOf({ label, kind, tone }: ChartSeries, colours: Colours): uPlot.Series {
  const stroke = colours[tone === "muted" ? "edge" : tone];
  const base: uPlot.Series = { label, stroke, width: 1.5, points: { show: false } };
  switch (kind) {
    case "line":
      return { ...base, spanGaps: true };
    case "step":
      return {
        ...base,
        ...withPaths(uPlot.paths.stepped?.({ align: 1 })),
        fill: `color-mix(in srgb, ${stroke} 15%, transparent)`,
      };
    case "bars":
      return { ...base, ...withPaths(uPlot.paths.bars?.({ size: [0.7, 48] })), fill: stroke, width: 0 };
    case "points":
      return { ...base, ...withPaths(() => null), points: { show: true, size: 5, fill: stroke, width: 0 } };
    default:
      return kind satisfies never;
  }
}

function withPaths(paths: uPlot.Series.PathBuilder | undefined): Pick<uPlot.Series, "paths"> {
  return paths ? { paths } : {};
}
