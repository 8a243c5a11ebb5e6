import { readFileSync } from "node:fs";
import { readModel, type ModelFile, type ModelHeader, type ModelName } from "./model-file.ts";
import { planSpectrum, type SpectrumPlan } from "./spectrum-plan.ts";

/** The exports of `assembly/index.ts`. Numbers are addresses in its memory, unless their names say otherwise. */
interface KernelExports {
  memory: { readonly buffer: ArrayBuffer };
  take(bytes: number): number;
  openModel(
    payload: number,
    conv: number,
    hidden: number,
    holdHidden: number,
    bands: number,
    bandHidden: number,
  ): number;
  payloadEnd(): number;
  openPlan(
    size: number,
    hop: number,
    kept: number,
    scale: number,
    stageCount: number,
    twiddleCount: number,
  ): number;
  planStages(plan: number): number;
  planTwiddles(plan: number): number;
  planTurns(plan: number): number;
  planAnalysis(plan: number): number;
  planSynthesis(plan: number): number;
  openSession(model: number, plan: number): number;
  resetSession(session: number): void;
  energyIn(session: number): number;
  energyOut(session: number): number;
  nearFrames(session: number): number;
  step(session: number): void;
  inputAddress(): number;
  outputAddress(): number;
}

/** The part of WebAssembly used here: its types come with a browser's only. */
interface WebAssemblyHost {
  Module: new (bytes: Uint8Array) => object;
  Instance: new (module: object) => { exports: unknown };
}

const BINS = 257;
const BAND_BINS = 16;
const LONGEST_HOP = 480;

/**
 * One model in one memory, shared by all sessions of this thread: the weights stay in the processor's cache, and a
 * session costs some twenty kilobytes.
 */
export class Kernel {
  readonly header: ModelHeader;
  readonly exports: KernelExports;
  /** Where a step reads and writes; replaced when the memory grows. */
  input: Int16Array = new Int16Array();
  output: Int16Array = new Int16Array();
  readonly #model: number;
  readonly #plans = new Map<number, number>();
  /** Sessions that ended, by plan. */
  readonly #free = new Map<number, number[]>();

  constructor({ header, payload }: ModelFile) {
    const { Module, Instance } = (globalThis as unknown as { WebAssembly: WebAssemblyHost }).WebAssembly;
    const module = new Module(readFileSync(new URL("../wasm/viva.wasm", import.meta.url)));
    this.exports = new Instance(module).exports as KernelExports;
    this.header = header;
    const address = this.exports.take(payload.length);
    new Uint8Array(this.exports.memory.buffer).set(payload, address);
    const { conv, hidden, holdHidden, bands, bandHidden } = header;
    this.#model = this.exports.openModel(address, conv, hidden, holdHidden, bands, bandHidden);
    if (this.exports.payloadEnd() !== address + payload.length)
      throw new Error(`The voice isolation model ${header.name} has other sizes than its header says`);
    this.#refreshViews();
  }

  openSession(sampleRateHz: number): number {
    const plan = this.#plans.get(sampleRateHz) ?? this.#openPlan(planSpectrum(sampleRateHz));
    this.#plans.set(sampleRateHz, plan);
    const used = this.#free.get(plan)?.pop();
    if (used !== undefined) {
      this.exports.resetSession(used);
      return used;
    }
    const session = this.exports.openSession(this.#model, plan);
    this.#refreshViews();
    return session;
  }

  closeSession(session: number, sampleRateHz: number): void {
    const plan = this.#plans.get(sampleRateHz);
    if (plan === undefined) return;
    const free = this.#free.get(plan) ?? [];
    free.push(session);
    this.#free.set(plan, free);
  }

  #openPlan(plan: SpectrumPlan): number {
    const { exports } = this;
    const kept = BINS + this.header.bands * BAND_BINS;
    const { size, hop, scale, radices, twiddles } = plan;
    const address = exports.openPlan(size, hop, kept, scale, radices.length, twiddles.length);
    const { buffer } = exports.memory;
    new Int32Array(buffer, exports.planStages(address), radices.length).set(radices);
    new Float32Array(buffer, exports.planTwiddles(address), twiddles.length).set(twiddles);
    new Float32Array(buffer, exports.planTurns(address), plan.turns.length).set(plan.turns);
    new Float32Array(buffer, exports.planAnalysis(address), plan.analysis.length).set(plan.analysis);
    new Float32Array(buffer, exports.planSynthesis(address), plan.synthesis.length).set(plan.synthesis);
    return address;
  }

  #refreshViews(): void {
    const { buffer } = this.exports.memory;
    if (this.input.buffer === buffer) return;
    this.input = new Int16Array(buffer, this.exports.inputAddress(), LONGEST_HOP);
    this.output = new Int16Array(buffer, this.exports.outputAddress(), LONGEST_HOP);
  }
}

const kernels = new Map<ModelName, Kernel>();

/** The kernel of this thread; loaded with the first session of its model. */
export function kernelOf(name: ModelName): Kernel {
  const kernel = kernels.get(name) ?? new Kernel(readModel(name));
  kernels.set(name, kernel);
  return kernel;
}
