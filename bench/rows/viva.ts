import { openEngine, type ModelName } from "@vocalhost/viva";
import type { Benchmark, Row } from "../report/row.ts";
import { figure } from "../report/statistics.ts";

const SESSIONS = [1, 10, 50];
const TARGET_PERCENT = 1;
/** Of audio, in each session after the others' warm-up. */
const SECONDS = { 1: 60, 10: 10, 50: 4 } as Record<number, number>;
const FRAMES_PER_SECOND = 50;

const CASES: { model: ModelName; sampleRateHz: number }[] = [
  { model: "tel", sampleRateHz: 8_000 },
  { model: "tel", sampleRateHz: 16_000 },
  { model: "pro", sampleRateHz: 32_000 },
  { model: "pro", sampleRateHz: 48_000 },
];

export const viva: Benchmark = {
  name: "viva",
  about: "voice isolation, CPU time of a session among 1, 10 and 50",
  run: () => Promise.resolve(CASES.map(measureCase)),
};

function measureCase({ model, sampleRateHz }: (typeof CASES)[number]): Row {
  const percents = SESSIONS.map((sessions) => measure(model, sampleRateHz, sessions));
  using engine = openEngine({ model, sampleRateHz });
  return {
    what: `voice isolation ${model} at ${sampleRateHz / 1_000} kHz, CPU of a session among ${SESSIONS.join(" / ")}`,
    target: `≤ ${TARGET_PERCENT} % of a core`,
    measured: `${percents.map((percent) => figure(percent)).join(" / ")} %`,
    baseline: `delay ${figure(engine.delayMs)} ms`,
    met: percents.every((percent) => percent <= TARGET_PERCENT),
    note: "frames of 20 ms, one thread, CPU time",
  };
}

/** Percent of a core one session takes, with this many fed in turn. */
function measure(model: ModelName, sampleRateHz: number, sessions: number): number {
  const engines = Array.from({ length: sessions }, () => openEngine({ model, sampleRateHz }));
  const frames = makeFrames(sampleRateHz);
  const feed = (count: number): void => {
    for (let index = 0; index < count; index += 1)
      for (const engine of engines) engine.process(frames[index % frames.length] ?? new Int16Array());
  };
  feed(FRAMES_PER_SECOND);
  const seconds = SECONDS[sessions] ?? 4;
  const before = process.cpuUsage();
  feed(seconds * FRAMES_PER_SECOND);
  const { user, system } = process.cpuUsage(before);
  for (const engine of engines) engine[Symbol.dispose]();
  return ((user + system) / 1e6 / seconds / sessions) * 100;
}

/** A second of a gliding, coming and going tone in noise: made beforehand, never silent. */
function makeFrames(sampleRateHz: number): Int16Array[] {
  const length = sampleRateHz / FRAMES_PER_SECOND;
  return Array.from({ length: FRAMES_PER_SECOND }, (_, frame) =>
    Int16Array.from({ length }, (_unused, index) => {
      const time = frame / FRAMES_PER_SECOND + index / sampleRateHz;
      const voice =
        4_000 * Math.sin(2 * Math.PI * (150 + 60 * time) * time) * Math.max(0, Math.sin(12 * time));
      return Math.round(voice + 200 * Math.sin(index * 78.233 + frame * 12.9898));
    }),
  );
}
