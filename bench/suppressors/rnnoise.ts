import type { Suppressor } from "./suppressor.ts";

/** The interface of the package's module, which comes without types. */
interface RnnoiseModule {
  ready: Promise<unknown>;
  HEAPF32: Float32Array;
  _malloc(bytes: number): number;
  _rnnoise_create(model: number): number;
  _rnnoise_process_frame(state: number, output: number, input: number): number;
}

const FRAME = 480;
/** RNNoise takes floats as large as 16-bit samples. */
const SCALE = 32_768;

/** RNNoise by way of WebAssembly. */
export async function loadRnnoise(): Promise<Suppressor> {
  const path: string = "@jitsi/rnnoise-wasm/dist/rnnoise-sync.js";
  const { default: create } = (await import(path)) as { default: () => RnnoiseModule };
  const rnnoise = create();
  await rnnoise.ready;
  return {
    sampleRateHz: 48_000,
    frameSamples: FRAME,
    delaySamples: 2 * FRAME,
    open() {
      const state = rnnoise._rnnoise_create(0);
      const at = rnnoise._malloc(4 * FRAME) / 4;
      return (frame) => {
        for (let index = 0; index < FRAME; index += 1)
          rnnoise.HEAPF32[at + index] = (frame[index] ?? 0) * SCALE;
        rnnoise._rnnoise_process_frame(state, 4 * at, 4 * at);
        return rnnoise.HEAPF32.slice(at, at + FRAME).map((sample) => sample / SCALE);
      };
    },
  };
}
