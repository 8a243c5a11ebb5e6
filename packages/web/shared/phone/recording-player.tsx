import { useRef, useState } from "react";
import { Button, buttonLook } from "../button.tsx";
import { toClock } from "../duration.ts";
import { Icon } from "../icon.tsx";
import type { CallRecording } from "./phone-state.ts";
import { Waveform } from "./waveform.tsx";

/** Both sides of a call, to listen to and to keep. */
export function RecordingPlayer({ recording, fileName }: { recording: CallRecording; fileName: string }) {
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
