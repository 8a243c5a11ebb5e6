import { useRef } from "react";
import { Icon, type IconName } from "../icon.tsx";
import { useStore } from "../use-store.ts";
import { progressOf } from "../events/connect-timeline.ts";
import type { Connection } from "../connection/connection.ts";
import type { Phase } from "../events/phase.ts";
import { drawOrb, ORB_BOT_BANDS, ORB_USER_BANDS, OrbState, type OrbMood } from "./draw-orb.ts";
import { loudnessOf, toLevel } from "../voice/loudness.ts";
import { usePainting } from "./use-painting.ts";

const botBands = new Float32Array(ORB_BOT_BANDS);
const userBands = new Float32Array(ORB_USER_BANDS);

/** Both voices in one picture: the bot in the middle, the user around it. */
export function Orb({
  connection,
  restingIcon,
  size = "size-[clamp(8.5rem,22dvh,16rem)] lg:size-[clamp(12rem,34dvh,20rem)]",
}: {
  connection: Connection;
  restingIcon: IconName;
  size?: string;
}) {
  const phase = useStore(connection.phase);
  const muted = useStore(connection.muted);
  const orb = useRef<OrbState>(null);
  const mood = moodOf(phase, muted);
  const canvas = usePainting({
    draw(picture) {
      orb.current ??= new OrbState();
      const state = orb.current;
      state.mood = mood;
      state.progress = phase.name === "connecting" ? progressOf(phase.step) : 0;
      const media = connection.session?.link.media;
      const live = phase.name === "live";
      readSpectrum(live ? media?.botMeter : undefined, botBands);
      readSpectrum(live ? media?.userMeter : undefined, userBands);
      const botLevel = live ? toLevel(loudnessOf(media?.botMeter)) : 0;
      const userLevel = live ? toLevel(loudnessOf(media?.userMeter)) : 0;
      state.follow({ botLevel, userLevel, botBands, userBands, timeMs: picture.timeMs });
      drawOrb(picture, state);
    },
    calm: phase.name !== "live",
    isSettled: () => phase.name !== "live" && orb.current?.isSettled === true,
  });
  const icon = iconOf(phase, muted, restingIcon);
  return (
    <div className={`relative mx-auto ${size}`}>
      <canvas ref={canvas} className="size-full" aria-hidden="true" />
      {icon && (
        <span className="pointer-events-none absolute inset-0 grid place-items-center text-on-accent">
          <Icon name={icon} className="size-10" />
        </span>
      )}
    </div>
  );
}

function moodOf(phase: Phase, muted: boolean): OrbMood {
  switch (phase.name) {
    case "idle":
    case "ended":
      return "resting";
    case "connecting":
      return "connecting";
    case "live":
      return phase.interrupted ? "dimmed" : muted ? "muted" : "live";
    case "ending":
    case "failed":
      return "dimmed";
    default:
      return phase satisfies never;
  }
}

function iconOf(phase: Phase, muted: boolean, restingIcon: IconName): IconName | undefined {
  if (phase.name === "idle" || phase.name === "ended") return restingIcon;
  if (phase.name === "live" && muted) return "microphone-off";
  return undefined;
}

const bins = new Uint8Array(512);
const VOICE_FROM_HZ = 90;
const VOICE_TO_HZ = 6_000;

/** Strength of each band of the voice, 0 to 1, low to high; bands grow wider upwards as hearing does. */
function readSpectrum(meter: AnalyserNode | undefined, bands: Float32Array): void {
  if (!meter) {
    bands.fill(0);
    return;
  }
  const data = bins.subarray(0, meter.frequencyBinCount);
  meter.getByteFrequencyData(data);
  const hzPerBin = meter.context.sampleRate / meter.fftSize;
  const ratio = VOICE_TO_HZ / VOICE_FROM_HZ;
  for (let band = 0; band < bands.length; band++) {
    const from = (VOICE_FROM_HZ * ratio ** (band / bands.length)) / hzPerBin;
    const to = (VOICE_FROM_HZ * ratio ** ((band + 1) / bands.length)) / hzPerBin;
    let peak = 0;
    for (let bin = Math.floor(from); bin <= Math.ceil(to) && bin < data.length; bin++) {
      peak = Math.max(peak, data[bin] ?? 0);
    }
    bands[band] = peak / 255;
  }
}
