import { parseWav } from "@vocalhost/audio";

import { readFileSync } from "node:fs";
import { gateVolume } from "vocalhost";
import { createSeededRandom } from "../../packages/simulator/src/seeded-random.ts";
import { createVoiceActivityDetector } from "../../packages/sdk/src/speech/voice-activity.ts";
import type { Benchmark, Row } from "../report/row.ts";
import { figure, percentile } from "../report/statistics.ts";
import { findJudges, type Judge } from "../turns/judges.ts";
import { readPeople } from "../turns/recordings.ts";
import { replay, type Replay } from "../turns/replay.ts";
import { TURNS } from "../turns/script.ts";
import { clipped, gainTo, speakTurn, type SpokenTurn } from "../turns/spoken-turn.ts";
import { findVoices, RATE_HZ } from "../turns/voices.ts";

const SEED = 17;
const TEXT_MS = 150; // what a streaming transcriber takes
const TELEVISION_DBFS = -30;
const RECORDED_TURNS = 300;

export const turns: Benchmark = {
  name: "turns",
  about: "how often turns are cut too early, and how soon their end is noticed",
  async run() {
    const voices = findVoices();
    if (voices.length === 0) throw new Error("Install espeak-ng and flite, whose voices are the callers");
    const judges = await findJudges();
    const random = createSeededRandom(SEED);
    const spoken = voices.map((voice) => TURNS.map((turn) => speakTurn(turn, voice, random)));
    const noisy = spoken.map((person) => person.map(withTelevision));
    const rows: Row[] = [];
    for (const judge of judges) {
      rows.push(await row("synthetic voices", spoken, judge, { write: asSaid }));
      if (judge.hearsWords)
        rows.push(await row("synthetic voices, text without marks", spoken, judge, { write: bare }));
      if (judge.name === "adaptive") {
        rows.push(await row("a television at −30 dBFS", noisy, judge, { write: asSaid }));
        rows.push(
          await row("a television, without the gate", noisy, judge, { write: asSaid, isGated: false }),
        );
      }
    }
    return rows;
  },
};

export const turnsOfPeople: Benchmark = {
  name: "turns-of-people",
  about: "the same with recordings of people, see bench/README.md",
  async run() {
    const people = readPeople("test", RECORDED_TURNS);
    if (people.length === 0) {
      console.error("  no recordings in bench/recordings/speechocean762");
      return [];
    }
    const rows: Row[] = [];
    for (const judge of await findJudges())
      rows.push(await row("people who read, text without marks", people, judge, { write: asSaid }));
    return rows;
  },
};

interface Way {
  write(text: string): string;
  isGated?: boolean;
}

async function row(what: string, callers: SpokenTurn[][], judge: Judge, way: Way): Promise<Row> {
  const replays: Replay[] = [];
  for (const caller of callers) {
    const endOfTurn = judge.create();
    for (const turn of caller) {
      const detector = createVoiceActivityDetector({ sampleRateHz: RATE_HZ });
      const voiceActivity =
        way.isGated === false ? detector : gateVolume(detector, { sampleRateHz: RATE_HZ });
      const { judgeMs } = judge;
      replays.push(
        await replay(turn, { voiceActivity, endOfTurn, textMs: TEXT_MS, judgeMs, write: way.write }),
      );
      detector.free();
    }
  }
  const delaysMs = replays.map(({ delayMs }) => delayMs).filter((ms) => ms !== undefined);
  const cuts = replays.filter(({ wasCut }) => wasCut).length;
  const never = replays.length - delaysMs.length;
  const p50 = figure(percentile(delaysMs, 0.5));
  const p90 = figure(percentile(delaysMs, 0.9));
  return {
    what: `${what}, ${judge.name}: turns cut; last word → decision, p50 / p90`,
    measured:
      `${cuts} of ${replays.length}; ${p50} / ${p90} ms` + (never > 0 ? `; ${never} never ended` : ""),
  };
}

function asSaid(text: string): string {
  return text;
}

function bare(text: string): string {
  return text.toLowerCase().replaceAll(/[.,?!]/g, "");
}

/** The same turn in a room where another person talks without end. */
function withTelevision(turn: SpokenTurn): SpokenTurn {
  const { samples } = parseWav(
    readFileSync(new URL("../../packages/sdk/src/speech/fixtures/table-for-two.wav", import.meta.url)),
  );
  const gain = gainTo(samples, TELEVISION_DBFS);
  const heard = turn.samples.map((sample, at) => clipped(sample + samples[at % samples.length]! * gain));
  return { ...turn, samples: heard };
}
