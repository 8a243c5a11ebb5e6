import { useRef, useState } from "react";
import { Button, buttonLook } from "../button.tsx";
import { toClock, toSpan } from "../duration.ts";
import { Figure } from "../figures/figure.tsx";
import { Icon } from "../icon.tsx";
import { useCopy } from "../use-copy.ts";
import { useStore } from "../use-store.ts";
import { summaryCells } from "./call-cells.ts";
import { carrierTitle } from "./call-choice.ts";
import { finishedCall, type CallRecording, type FinishedCall } from "./phone-state.ts";
import { Violations } from "./violations.tsx";
import { Waveform } from "./waveform.tsx";

/** The last call: its recording and its figures. */
export function CallCard() {
  const call = useStore(finishedCall);
  return call ? <Card call={call} /> : null;
}

function Card({ call }: { call: FinishedCall }) {
  const { summary, recording, carrier, from, to } = call;
  const { copied, copy } = useCopy();
  return (
    <section
      aria-label="The last call"
      className="mx-auto w-full max-w-2xl overflow-hidden rounded-2xl border border-line bg-surface"
    >
      <div className="flex items-center gap-3 px-4 pt-3 sm:px-5">
        <h2 className="min-w-0 flex-1 font-semibold">
          {carrierTitle(carrier)} call, <span className="tabular-nums">{toSpan(summary.durationMs)}</span>
        </h2>
        <Button
          look="quiet"
          size="small"
          icon={copied ? "check" : "copy"}
          onClick={() => copy(JSON.stringify(summary, undefined, 2))}
        >
          {copied ? "Copied" : "Copy figures"}
        </Button>
      </div>
      <p className="px-4 text-[0.8125rem] text-muted tabular-nums sm:px-5">
        {from} to {to}
      </p>
      <div className="px-4 pt-3 pb-4 sm:px-5">
        <RecordingPlayer recording={recording} fileName={toFileName(call)} />
        <p className="mt-2 text-[0.8125rem] text-muted">
          In the file you are on the left channel, your bot on the right.
        </p>
      </div>
      <dl className="grid grid-cols-2 gap-px border-y border-line bg-line sm:grid-cols-4">
        {summaryCells(summary).map((cell) => (
          <Figure key={cell.name} {...cell} />
        ))}
      </dl>
      <div className="px-4 py-3 sm:px-5">
        <Violations violations={summary.violations} />
      </div>
    </section>
  );
}

function toFileName({ carrier, endedMs }: FinishedCall): string {
  const time = new Date(endedMs).toISOString().slice(0, 19).replaceAll(":", "-");
  return `${carrier}-call-${time}.wav`;
}

/** Both sides of a call, to listen to and to keep. */
function RecordingPlayer({ recording, fileName }: { recording: CallRecording; fileName: string }) {
  const audio = useRef<HTMLAudioElement>(null);
  const [atMs, setAtMs] = useState(0);
  const [playing, setPlaying] = useState(false);
  const { url, durationMs } = recording;
  const look = () => setAtMs((audio.current?.currentTime ?? 0) * 1000);
  return (
    <div>
      <audio
        ref={audio}
        src={url}
        preload="auto"
        onPlay={() => setPlaying(true)}
        onPause={() => setPlaying(false)}
        onTimeUpdate={look}
        onSeeked={look}
      />
      <Waveform
        recording={recording}
        atMs={atMs}
        onSeek={(ms) => {
          if (audio.current) audio.current.currentTime = ms / 1000;
        }}
      />
      <div className="mt-3 flex flex-wrap items-center gap-2">
        <Button
          size="small"
          icon={playing ? "pause" : "play"}
          onClick={() => {
            if (playing) audio.current?.pause();
            else void audio.current?.play().catch(() => {}); // the button goes on saying so
          }}
        >
          {playing ? "Pause" : "Play"}
        </Button>
        <span className="text-[0.8125rem] text-muted tabular-nums">
          {toClock(atMs)} / {toClock(durationMs)}
        </span>
        <a
          className={`ml-auto ${buttonLook({ look: "plain", size: "small" })}`}
          href={url}
          download={fileName}
        >
          <Icon name="download" />
          <span>
            <span className="max-sm:sr-only">Download </span>WAV
          </span>
        </a>
      </div>
    </div>
  );
}
