import { atRate } from "../at-rate.ts";
import { renderSound, SOUND_HZ } from "./sounds.ts";
import { surroundingNames, type SurroundingName } from "./surrounding-names.ts";

/** The sound around a caller, and its level. */
export interface SurroundingsChoice {
  name: SurroundingName;
  /** Below the caller's own voice. */
  belowDb: number;
  /** Silent so long at the beginning of the call. @default 0 */
  startMs?: number | undefined;
}

/** Parses `talker:10dB@3s`, `talker:10dB` or `talker`. The default level is 10 dB, the default start 0 s. Throws an Error that explains the form. */
export function parseSurroundings(text: string): SurroundingsChoice {
  const [, word = "", level = String(USUAL_BELOW_DB), start] =
    /^\s*([a-z]+)\s*(?::\s*(\d+(?:\.\d+)?)\s*(?:db)?)?\s*(?:@\s*(\d+(?:\.\d+)?)\s*s)?\s*$/i.exec(text) ?? [];
  const name = surroundingNames.find((known) => known === word.toLowerCase());
  const belowDb = Number(level);
  if (name && belowDb <= BELOW_MAX_DB)
    return { name, belowDb, ...(start !== undefined && { startMs: Number(start) * 1_000 }) };
  throw new Error(
    `"${text}" is not a background. For example: talker:10dB, which is 10 dB below the caller's voice, ` +
      `or talker:10dB@3s, which begins after 3 s. ` +
      `There are ${surroundingNames.join(", ")}, 0 to ${BELOW_MAX_DB} dB below.`,
  );
}

/** The sound itself, without end: as many samples as are asked for. */
export function createSurroundings(options: SurroundingsOptions): (samples: number) => Int16Array {
  const { sampleRateHz, belowDb } = options;
  const rendered = renderSound(options.name, options.seed ?? 1);
  const level = (options.voiceLevel ?? USUAL_VOICE_LEVEL) * 10 ** (-belowDb / 20);
  const factor = level / Math.max(1e-9, speechLevel(rendered, SOUND_HZ));
  const loop = atRate(
    { samples: Int16Array.from(rendered, (value) => clipped(value * factor)), sampleRateHz: SOUND_HZ },
    sampleRateHz,
  );
  let at = -Math.round(((options.startMs ?? 0) * sampleRateHz) / 1_000);
  return (count) => {
    const sound = new Int16Array(count);
    for (let index = 0; index < count; index++, at++) if (at >= 0) sound[index] = loop[at % loop.length]!;
    return sound;
  };
}

export interface SurroundingsOptions extends SurroundingsChoice {
  sampleRateHz: number;
  /** Level of the caller's speech, as `speechLevel` gives it. @default -22 dB, a usual caller */
  voiceLevel?: number | undefined;
  /** Seed of the noise. @default 1 */
  seed?: number | undefined;
}

/** Level of the louder half of a sound, so that pauses do not count. */
export function speechLevel(samples: ArrayLike<number>, sampleRateHz: number): number {
  const length = Math.round(sampleRateHz / 50);
  const powers: number[] = [];
  for (let from = 0; from + length <= samples.length; from += length) {
    let sum = 0;
    for (let at = from; at < from + length; at++) sum += samples[at]! ** 2;
    powers.push(sum / length);
  }
  const louder = powers.sort((one, other) => other - one).slice(0, Math.ceil(powers.length / 2));
  return Math.sqrt(louder.reduce((sum, power) => sum + power, 0) / Math.max(1, louder.length));
}

function clipped(value: number): number {
  return Math.max(-32_768, Math.min(32_767, Math.round(value)));
}

const USUAL_BELOW_DB = 10;
const BELOW_MAX_DB = 60; // beyond this nothing is left of it on a telephone line
const USUAL_VOICE_LEVEL = 2_600;
