import { readFileSync } from "node:fs";
import type { Suppressor } from "./suppressor.ts";

/** The package's exports have letters for names. */
interface GtcrnExports {
  c: { buffer: ArrayBuffer; grow(pages: number): number };
  /** Runs what has to run first. */
  d(): void;
  /** Opens a stream. */
  e(): number;
  /** One frame: stream, input, output. */
  i(stream: number, input: number, output: number): void;
  /** Takes memory. */
  k(bytes: number): number;
}

/** The part of WebAssembly used here: its types come with a browser's only. */
interface WebAssemblyHost {
  Module: new (bytes: Uint8Array) => object;
  Instance: new (module: object, imports: object) => { exports: unknown };
}

const FRAME = 256;
const PAGE_BYTES = 65_536;

/** GTCRN (48,000 parameters) by way of WebAssembly. */
export function loadGtcrn(): Suppressor {
  const path = new URL(import.meta.resolve("@sapphi-red/web-noise-suppressor/gtcrn.wasm"));
  const fail = (): never => {
    throw new Error("GTCRN gave up");
  };
  const grow = (bytes: number): number => {
    gtcrn.c.grow(Math.ceil((bytes - gtcrn.c.buffer.byteLength) / PAGE_BYTES));
    return 1;
  };
  const { Module, Instance } = (globalThis as unknown as { WebAssembly: WebAssemblyHost }).WebAssembly;
  const instance = new Instance(new Module(readFileSync(path)), { a: { a: fail, b: grow } });
  const gtcrn = instance.exports as GtcrnExports;
  gtcrn.d();
  return {
    sampleRateHz: 16_000,
    frameSamples: FRAME,
    delaySamples: FRAME,
    open() {
      const stream = gtcrn.e();
      const input = gtcrn.k(4 * FRAME);
      const output = gtcrn.k(4 * FRAME);
      return (frame) => {
        new Float32Array(gtcrn.c.buffer, input, FRAME).set(frame);
        gtcrn.i(stream, input, output);
        return new Float32Array(gtcrn.c.buffer, output, FRAME).slice();
      };
    },
  };
}
