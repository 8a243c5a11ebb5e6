import { OUTPUT_MAX, PIECE_MAX, pieceMaxOf, type Convolution } from "./convolution.ts";
import type { PolyphaseFilter } from "./polyphase-filter.ts";
import { KERNEL_BASE64 } from "./kernel-bytes.ts";

interface KernelMemory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}

interface KernelExports {
  memory: KernelMemory;
  resample(
    coefficients: number,
    taps: number,
    up: number,
    down: number,
    phase: number,
    input: number,
    output: number,
    count: number,
  ): void;
}

interface Compiler {
  Module: new (bytes: Uint8Array) => object;
  Instance: new (module: object) => { exports: KernelExports };
}

/** One for all resamplers of a thread: its places are filled for each run, its filters stay. */
interface Kernel extends KernelExports {
  input: Float32Array;
  output: Int16Array;
  /** Where the coefficients of each filter lie. */
  filters: Map<PolyphaseFilter, number>;
  end: number;
}

const TAPS_MAX = 4096;
const INPUT_BYTES = (TAPS_MAX + PIECE_MAX) * 4;
const OUTPUT_AT = INPUT_BYTES;
const FILTERS_AT = OUTPUT_AT + OUTPUT_MAX * 2;
const PAGE_BYTES = 65_536;

let kernel: Kernel | undefined;

/** Undefined where there is none. */
export function createKernelConvolution(filter: PolyphaseFilter): Convolution | undefined {
  const { up, down, taps } = filter;
  if (taps > TAPS_MAX || !mayCompile()) return undefined;
  const ours = (kernel ??= startKernel());
  const coefficients = ours.filters.get(filter) ?? addFilter(ours, filter);
  return {
    get input() {
      return ours.input;
    },
    pieceMax: pieceMaxOf(filter),
    run({ position, phase, count }) {
      ours.resample(coefficients, taps, up, down, phase, position * 4, OUTPUT_AT, count);
      return ours.output.subarray(0, count);
    },
  };
}

// The policies of web pages forbid it, and asking would already be a violation.
function mayCompile(): boolean {
  const { process } = globalThis as { process?: { versions?: { node?: string } } };
  return process?.versions?.node !== undefined;
}

function startKernel(): Kernel {
  const bytes = Uint8Array.from(atob(KERNEL_BASE64), (character) => character.charCodeAt(0));
  // Not among the names that both Node's and the browsers' types have.
  const { WebAssembly } = globalThis as unknown as { WebAssembly: Compiler };
  const { memory, resample } = new WebAssembly.Instance(new WebAssembly.Module(bytes)).exports;
  return { memory, resample, filters: new Map(), end: FILTERS_AT, ...placesIn(memory) };
}

function placesIn(memory: KernelMemory): Pick<Kernel, "input" | "output"> {
  return {
    input: new Float32Array(memory.buffer, 0, INPUT_BYTES / 4),
    output: new Int16Array(memory.buffer, OUTPUT_AT, OUTPUT_MAX),
  };
}

function addFilter(ours: Kernel, filter: PolyphaseFilter): number {
  const at = ours.end;
  ours.end += filter.coefficients.byteLength;
  const missing = ours.end - ours.memory.buffer.byteLength;
  if (missing > 0) {
    ours.memory.grow(Math.ceil(missing / PAGE_BYTES));
    Object.assign(ours, placesIn(ours.memory)); // the former ones are detached
  }
  new Float32Array(ours.memory.buffer, at, filter.coefficients.length).set(filter.coefficients);
  ours.filters.set(filter, at);
  return at;
}
