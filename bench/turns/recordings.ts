import { parseWav, samplesIn } from "@vocalhost/audio";
import { existsSync, readFileSync } from "node:fs";
import { createVoiceActivityDetector } from "../../packages/sdk/src/speech/voice-activity.ts";
import { TAIL_MS, type SpokenTurn } from "./spoken-turn.ts";
import { RATE_HZ } from "./voices.ts";

/** Where a clone of https://github.com/jimbozhang/speechocean762 is looked for. */
const FOLDER = new URL("../recordings/speechocean762/", import.meta.url);
const ADULT_YEARS = 14; // children read word by word

/** Adults who read sentences and hesitate; each person's turns together. Returns none without a clone. */
export function readPeople(split: "train" | "test", most: number): SpokenTurn[][] {
  if (!existsSync(new URL(`${split}/text`, FOLDER))) return [];
  const ages = new Map(lines(`${split}/spk2age`));
  const people = new Map<string, SpokenTurn[]>();
  let count = 0;
  for (const [id, text] of lines(`${split}/text`)) {
    const person = id.slice(1, 5);
    const file = new URL(`WAVE/SPEAKER${person}/${id}.WAV`, FOLDER);
    if (Number(ages.get(person)) < ADULT_YEARS || !existsSync(file)) continue;
    if (count >= most) break;
    const turn = toTurn(parseWav(readFileSync(file)).samples, text.toLowerCase());
    if (!turn) continue;
    count += 1;
    people.set(person, [...(people.get(person) ?? []), turn]);
  }
  return [...people.values()];
}

function lines(path: string): [string, string][] {
  const text = readFileSync(new URL(path, FOLDER), "utf8").trim();
  return text.split("\n").map((line) => {
    const [id = "", ...rest] = line.split(/\s+/);
    return [id, rest.join(" ")];
  });
}

/** The detector says where the person speaks; the words are spread evenly over it. */
function toTurn(recorded: Int16Array, text: string): SpokenTurn | undefined {
  const samples = new Int16Array(recorded.length + samplesIn(TAIL_MS, RATE_HZ));
  samples.set(recorded);
  // The room goes on after the recording.
  const room = samplesIn(100, RATE_HZ);
  for (let at = recorded.length; at < samples.length; at += 1) samples[at] = samples[at % room]!;
  const detector = createVoiceActivityDetector({ sampleRateHz: RATE_HZ });
  const speech = detector.process(samples);
  detector.free();
  const last = speech.lastIndexOf(true);
  if (last === -1) return undefined;
  const spokenUntil = (ms: number): number =>
    speech.slice(0, Math.floor(ms / detector.windowMs)).filter(Boolean).length;
  const all = spokenUntil(Number.POSITIVE_INFINITY);
  const words = text.split(" ");
  return {
    samples,
    lastWordMs: (last + 1) * detector.windowMs,
    textAt: (ms) => words.slice(0, Math.round((spokenUntil(ms) / all) * words.length)).join(" "),
  };
}
