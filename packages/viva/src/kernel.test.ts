import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { compileKernel } from "../build-kernel.ts";
import { Kernel } from "./kernel.ts";
import { readModel, type ModelFile } from "./model-file.ts";
import { size } from "../../../testing/sizes.ts";

const VOICE = new URL("../../sdk/src/speech/fixtures/table-for-two.wav", import.meta.url);
const WAV_HEADER_BYTES = 44;
const RATE_HZ = 16_000;
const HOP = RATE_HZ / 100;
const OUTPUTS = 260;
const BINS = 257;
const HIDDEN = 256;
const HOLD_OUTPUTS = 4;

test(
  "the kernel that ships is what its sources compile to",
  { skip: size<string | false>("installs a compiler; in the long run", false) },
  () => {
    const shipped = readFileSync(new URL("../wasm/viva.wasm", import.meta.url));
    const hint = "run node packages/viva/build-kernel.ts and commit wasm/viva.wasm";
    assert.ok(compileKernel().equals(shipped), hint);
  },
);

test("a model that hears music on hold closes the output after a second, until the session is over", () => {
  const [never, always] = [0, 20].map((logit) => new Kernel(hearingMusic(logit))) as [Kernel, Kernel];
  const [usual, held] = [never.openSession(RATE_HZ), always.openSession(RATE_HZ)];
  const before = play(never, usual, 100, 190);
  const early = play(always, held, 100, 190);
  assert.equal(early, before, "not within the first second");
  for (const [kernel, session] of [
    [never, usual],
    [always, held],
  ] as const)
    play(kernel, session, 190, 290);
  const [open, closed] = [play(never, usual, 100, 190), play(always, held, 100, 190)];
  assert.ok(closed < open / 1_000, `${closed} of ${open}`);
  always.closeSession(held, RATE_HZ);
  assert.equal(play(always, always.openSession(RATE_HZ), 100, 190), early, "the next caller begins anew");
});

test("the gate opens further for who goes on speaking than for who begins, until the session is over", () => {
  const [doubtful, sure] = [0, 20].map((logit) => new Kernel(hearingNear(logit))) as [Kernel, Kernel];
  const [one, other] = [doubtful.openSession(RATE_HZ), sure.openSession(RATE_HZ)];
  const share = (from: number, to: number): number =>
    play(doubtful, one, from, to) / play(sure, other, from, to);
  const early = share(100, 103);
  share(103, 190);
  const late = share(100, 103);
  assert.ok(early < 0.65 && late > 0.85, `at first ${early}, then ${late}`);
  doubtful.closeSession(one, RATE_HZ);
  sure.closeSession(other, RATE_HZ);
  const [next, beside] = [doubtful.openSession(RATE_HZ), sure.openSession(RATE_HZ)];
  const anew = play(doubtful, next, 100, 103) / play(sure, beside, 100, 103);
  assert.equal(anew, early, "the next caller begins anew");
});

test("while the gate is open a twenty-fifth stays of what the gains would take away", () => {
  const [least, most] = [-30, 30].map((logit) => new Kernel(withGains(logit))) as [Kernel, Kernel];
  const [one, other] = [least.openSession(RATE_HZ), most.openSession(RATE_HZ)];
  const share = Math.sqrt(play(least, one, 100, 190) / play(most, other, 100, 190));
  assert.ok(Math.abs(share - 0.04) < 0.001, `${share}`);
});

/** `tel` with this for the gain of every frequency, whatever it hears. */
function withGains(logit: number): ModelFile {
  return saying(logit, (model) => ({ ...outputsOf(model), columns: HIDDEN, row: 0, rows: BINS }));
}

/** `tel` with this for the near talker, whatever it hears. */
function hearingNear(logit: number): ModelFile {
  return saying(logit, (model) => ({ ...outputsOf(model), columns: HIDDEN, row: BINS, rows: 1 }));
}

/** `tel` with this for music on hold, whatever it hears; 0 is what a model says that knows nothing of it. */
function hearingMusic(logit: number): ModelFile {
  return saying(logit, ({ header, payload }) => {
    const biases = payload.length - 4 * HOLD_OUTPUTS;
    const columns = header.holdHidden;
    return { weights: biases - 2 * HOLD_OUTPUTS * columns, biases, columns, row: 0, rows: 1 };
  });
}

/** In front of the listener for music, which ends the payload of `tel`. */
function outputsOf({ header, payload }: ModelFile): { weights: number; biases: number } {
  const { conv, hidden, holdHidden } = header;
  const inputs = conv + 2 * hidden;
  const listenerWeights = 3 * holdHidden * (inputs + holdHidden) + HOLD_OUTPUTS * holdHidden;
  const listenerBiases = 4 * holdHidden + HOLD_OUTPUTS;
  const biases = payload.length - 2 * listenerWeights - 4 * listenerBiases - 4 * OUTPUTS;
  return { weights: biases - 2 * OUTPUTS * HIDDEN, biases };
}

interface Rows {
  /** Where the layer's weights and its biases begin. */
  weights: number;
  biases: number;
  columns: number;
  row: number;
  rows: number;
}

/** `tel` with rows of a layer that say this whatever they are given. */
function saying(logit: number, find: (model: ModelFile) => Rows): ModelFile {
  const model = readModel("tel");
  const { weights, biases, columns, row, rows } = find(model);
  const payload = Uint8Array.from(model.payload);
  payload.fill(0, weights + 2 * columns * row, weights + 2 * columns * (row + rows));
  const view = new DataView(payload.buffer);
  for (let at = row; at < row + rows; at += 1) view.setFloat32(biases + 4 * at, logit, true);
  return { header: model.header, payload };
}

/** The energy that comes out while these steps of the voice go in. */
function play(kernel: Kernel, session: number, from: number, to: number): number {
  const bytes = readFileSync(VOICE).subarray(WAV_HEADER_BYTES);
  const energyBefore = kernel.exports.energyOut(session);
  for (let step = from; step < to; step += 1) {
    for (let at = 0; at < HOP; at += 1) kernel.input[at] = bytes.readInt16LE(2 * (step * HOP + at));
    kernel.exports.step(session);
  }
  return kernel.exports.energyOut(session) - energyBefore;
}
