import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { compileKernel } from "../build-kernel.ts";
import { Kernel } from "./kernel.ts";
import { readModel, type ModelFile } from "./model-file.ts";

const VOICE = new URL("../../sdk/src/speech/fixtures/table-for-two.wav", import.meta.url);
const WAV_HEADER_BYTES = 44;
const RATE_HZ = 16_000;
const HOP = RATE_HZ / 100;
const HOLD_BIAS_FROM_END = 8; // of the outputs' biases, with which the payload of `tel` ends, the last but one

test("the kernel that ships is what its sources compile to", () => {
  const shipped = readFileSync(new URL("../wasm/viva.wasm", import.meta.url));
  assert.ok(
    compileKernel().equals(shipped),
    "run node packages/viva/build-kernel.ts and commit wasm/viva.wasm",
  );
});

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

/** `tel` with this for music, whatever it hears; 0 is what a model says that knows nothing of it. */
function hearingMusic(logit: number): ModelFile {
  const { header, payload } = readModel("tel");
  const changed = Uint8Array.from(payload);
  new DataView(changed.buffer).setFloat32(changed.length - HOLD_BIAS_FROM_END, logit, true);
  return { header, payload: changed };
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
