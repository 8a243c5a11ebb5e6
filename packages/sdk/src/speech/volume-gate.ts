import { createFramer, samplesIn } from "@vocalhost/audio";
import type { VoiceActivity } from "./voice-activity.ts";

/**
 * Ignores voices much quieter than the user's. A television in the room is speech to every detector; it is quieter
 * than the person on the phone.
 */
export function gateVolume(
  voiceActivity: VoiceActivity,
  options: VolumeGateOptions & { sampleRateHz: number },
): VoiceActivity {
  const { windowMs } = voiceActivity;
  const belowDb = options.belowDb ?? 8;
  const minDbfs = options.minDbfs ?? -45;
  const framer = createFramer({ samplesPerFrame: samplesIn(windowMs, options.sampleRateHz) });
  const powers: number[] = []; // of windows that the detector has not decided on yet
  const recent: number[] = [];
  let userDb: number | undefined;

  /** Loudness of the last 96 ms, since single windows of one voice vary too much. */
  function smoothedDb(power: number): number {
    recent.push(power);
    if (recent.length > SMOOTHED_WINDOWS) recent.shift();
    return 10 * Math.log10(recent.reduce((sum, one) => sum + one, 1e-12) / recent.length);
  }

  function learn(levelDb: number): void {
    if (userDb === undefined) userDb = levelDb;
    else if (levelDb > userDb) userDb += (levelDb - userDb) * ATTACK;
    else userDb -= (RELEASE_DB_PER_S * windowMs) / 1000;
  }

  return {
    windowMs,
    process(samples) {
      for (const frame of framer.push(samples)) powers.push(powerOf(frame));
      return voiceActivity.process(samples).map((isSpeech) => {
        const levelDb = smoothedDb(powers.shift() ?? recent.at(-1) ?? 0);
        if (!isSpeech || levelDb < minDbfs) return false;
        const passes = userDb === undefined || levelDb >= userDb - belowDb;
        learn(levelDb);
        return passes;
      });
    },
  };
}

export interface VolumeGateOptions {
  /** Level below the user's at which another voice is ignored, in dB. @default 8 */
  belowDb?: number;
  /** Level below which nothing is speech. @default -45 */
  minDbfs?: number;
}

const SMOOTHED_WINDOWS = 3;
const ATTACK = 0.35; // a single loud noise must not make the user too quiet to be heard
const RELEASE_DB_PER_S = 0.5; // a quieter speaker who takes over is heard after a few seconds

function powerOf(samples: Int16Array): number {
  let sum = 0;
  for (const sample of samples) sum += (sample / 32_768) ** 2;
  return sum / samples.length;
}
