import { openEngine, type ModelName } from "@vocalhost/viva";
import type { Benchmark, Row } from "../report/row.ts";
import { figure, median, ratio } from "../report/statistics.ts";
import { loadGtcrn } from "../suppressors/gtcrn.ts";
import { loadOnnxSteps } from "../suppressors/onnxruntime.ts";
import { loadRnnoise } from "../suppressors/rnnoise.ts";
import type { Suppressor } from "../suppressors/suppressor.ts";

const SESSIONS = [1, 10, 50];
const TARGET_PERCENT = 1;
/** Seconds of audio in each session, after the others' warm-up. */
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
  about: "voice isolation, CPU time of a session among 1, 10 and 50, and of noise suppressors",
  run: async () => [...CASES.map(measureCase), ...(await measureOthers())],
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

const STEPS_PER_SECOND = 100;
const ROUNDS = 5;
const ROUND_SECONDS = 10;

/** Others and `tel` in turn, one session each, so that what else the machine does meets all of them. */
async function measureOthers(): Promise<Row[]> {
  using engine = openEngine({ model: "tel", sampleRateHz: 16_000 });
  const frames = makeFrames(16_000);
  const ours = (seconds: number): void => {
    for (let index = 0; index < seconds * FRAMES_PER_SECOND; index += 1)
      engine.process(frames[index % frames.length] ?? new Int16Array());
  };
  const onnxSteps = await loadOnnxSteps();
  const others = [
    {
      what: "RNNoise at 48 kHz",
      run: feeder(await loadRnnoise()),
      note: "WebAssembly, as its package brings it",
    },
    { what: "GTCRN at 16 kHz", run: feeder(loadGtcrn()), note: "WebAssembly, as its package brings it" },
    {
      what: "our layers in onnxruntime-node",
      run: onnxSteps && ((seconds: number) => onnxSteps(seconds * STEPS_PER_SECOND)),
      note: onnxSteps ? "without transforms" : "npm install --no-save --ignore-scripts onnxruntime-node",
    },
  ];
  const rows: Row[] = [];
  for (const { what, run, note } of others) {
    if (!run) {
      rows.push({ what, measured: "not installed", note });
      continue;
    }
    const theirs: number[] = [];
    const own: number[] = [];
    for (let round = 0; round <= ROUNDS; round += 1) {
      own.push(await percentOfCore(ours, ROUND_SECONDS));
      theirs.push(await percentOfCore(run, ROUND_SECONDS));
    }
    const [measured, baseline] = [theirs, own].map((percents) => median(percents.slice(1)));
    if (measured === undefined || baseline === undefined) continue;
    rows.push({
      what: `${what}, CPU of a session`,
      measured: `${figure(measured)} % of a core`,
      baseline: `tel at 16 kHz ${figure(baseline)} % (${ratio(measured, baseline)})`,
      note,
    });
  }
  return rows;
}

async function percentOfCore(
  run: (seconds: number) => void | Promise<void>,
  seconds: number,
): Promise<number> {
  const before = process.cpuUsage();
  await run(seconds);
  const { user, system } = process.cpuUsage(before);
  return ((user + system) / 1e6 / seconds) * 100;
}

function feeder({ sampleRateHz, frameSamples, open }: Suppressor): (seconds: number) => void {
  const next = open();
  const frame = Float32Array.from({ length: frameSamples }, (_, index) => 0.1 * Math.sin(index * 0.7));
  return (seconds) => {
    for (let fed = 0; fed < seconds * sampleRateHz; fed += frameSamples) next(frame);
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
