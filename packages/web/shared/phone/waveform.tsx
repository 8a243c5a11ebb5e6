import { toClock } from "../duration.ts";
import type { CallRecording } from "./phone-state.ts";

const HEIGHT = 72;
const STEP = 4; // of the drawing; the browser stretches it
const SEEK_MS = 100;

interface WaveformProps {
  recording: CallRecording;
  atMs: number;
  onSeek: (ms: number) => void;
}

/** The whole call: the user above the line, the bot below, and where the playback is. */
export function Waveform({ recording, atMs, onSeek }: WaveformProps) {
  const { said, heard, durationMs } = recording;
  const width = said.length * STEP;
  return (
    <div className="flex items-stretch gap-3">
      <div className="flex flex-col justify-between py-2 text-right text-xs font-medium text-muted">
        <span>You</span>
        <span className="text-accent">Bot</span>
      </div>
      <div className="relative min-w-0 flex-1 rounded-lg has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-accent">
        <svg
          aria-hidden="true"
          className="block h-18 w-full"
          preserveAspectRatio="none"
          viewBox={`0 0 ${width} ${HEIGHT}`}
        >
          <g className="[&>path]:[vector-effect:non-scaling-stroke]" strokeLinecap="round" strokeWidth="2">
            <path d={`M0 ${HEIGHT / 2}H${width}`} className="stroke-line" strokeWidth="1" />
            <path d={toPath(said, -1)} className="stroke-ink/75" />
            <path d={toPath(heard, 1)} className="stroke-accent" />
          </g>
        </svg>
        {atMs > 0 && (
          <div
            aria-hidden="true"
            className="pointer-events-none absolute inset-y-0 w-0.5 -translate-x-1/2 rounded-full bg-ink"
            style={{ left: `${(100 * Math.min(atMs, durationMs)) / durationMs}%` }}
          />
        )}
        <input
          type="range"
          aria-label="Position in the recording"
          aria-valuetext={toClock(atMs)}
          className="absolute inset-0 m-0 size-full cursor-pointer opacity-0"
          min={0}
          max={durationMs}
          step={SEEK_MS}
          value={Math.min(atMs, durationMs)}
          onChange={(event) => onSeek(event.target.valueAsNumber)}
        />
      </div>
    </div>
  );
}

function toPath(bars: number[], direction: 1 | -1): string {
  const middle = HEIGHT / 2;
  return bars
    .map((level, bar) => {
      if (level < 0.02) return "";
      const from = middle + direction * 3;
      return `M${(bar + 0.5) * STEP} ${from}v${(direction * level * (middle - 6)).toFixed(1)}`;
    })
    .join("");
}
