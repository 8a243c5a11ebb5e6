import { kernelOf } from "./kernel.ts";
import type { ModelName } from "./model-file.ts";
import { RateConverter } from "./rate-converter.ts";
import { DIRECT_RATES_HZ } from "./spectrum-plan.ts";
import { StepStream } from "./step-stream.ts";

export interface EngineOptions {
  /** `tel` keeps what is below 8 kHz, `pro` what is below 16 kHz. */
  model: ModelName;
  /** A rate of `SAMPLE_RATES_HZ`, the same for input and output. */
  sampleRateHz: number;
}

/** The figures of a session, for its record. */
export interface EngineFigures {
  /** Steps of 10 ms that went in. */
  framesIn: number;
  /** Steps that went through the network. */
  framesFiltered: number;
  /** Part of them in which the near talker was heard, 0 to 1. */
  nearShare: number;
  /** How much weaker the output is than the input, over the whole session. */
  levelRemovedDb: number;
  /** CPU time spent in the engine, estimated from some of the calls. */
  cpuMs: number;
}

/** Rates the engine takes. Those it does not work at itself are converted inside. */
export const SAMPLE_RATES_HZ: readonly number[] = [...DIRECT_RATES_HZ, 11_025, 22_050, 44_100].sort(
  (a, b) => a - b,
);

/** Opens a session. The first of its model in a thread loads the model, which takes some milliseconds. */
export function openEngine({ model, sampleRateHz }: EngineOptions): Engine {
  if (!["tel", "pro"].includes(model))
    throw new RangeError(`There is no voice isolation model ${model}: use tel or pro`);
  if (!SAMPLE_RATES_HZ.includes(sampleRateHz))
    throw new RangeError(
      `Voice isolation does not work at ${sampleRateHz} Hz: use one of ${SAMPLE_RATES_HZ.join(", ")}`,
    );
  return new Engine(model, sampleRateHz);
}

/** One stream of audio on its way through a model. Not for two streams at once; any number may be open. */
export class Engine implements Disposable {
  readonly model: ModelName;
  readonly version: string;
  readonly sampleRateHz: number;
  /** The output is the input this many samples later. */
  readonly delaySamples: number;
  readonly #stream: StepStream;
  readonly #toDirect: RateConverter | undefined;
  readonly #fromDirect: RateConverter | undefined;
  readonly #input = new SampleBuffer();
  readonly #direct = new SampleBuffer();
  readonly #filtered = new SampleBuffer();
  readonly #output = new SampleBuffer();
  readonly #meter = new CpuMeter();
  #samplesIn = 0;
  #samplesOut = 0;
  #closed = false;

  constructor(model: ModelName, sampleRateHz: number) {
    const kernel = kernelOf(model);
    const directHz = DIRECT_RATES_HZ.find((rate) => rate >= sampleRateHz) ?? sampleRateHz;
    this.model = model;
    this.version = kernel.header.version;
    this.sampleRateHz = sampleRateHz;
    this.#stream = new StepStream(kernel, directHz);
    let delaySamples = 2 * this.#stream.hop;
    if (directHz !== sampleRateHz) {
      this.#toDirect = new RateConverter(sampleRateHz, directHz);
      this.#fromDirect = new RateConverter(directHz, sampleRateHz);
      const later = delaySamples + this.#fromDirect.delaySamples;
      delaySamples = Math.round((later * sampleRateHz) / directHz) + this.#toDirect.delaySamples;
    }
    this.delaySamples = delaySamples;
  }

  /** From a sound's first sample until all it needs has been heard, in milliseconds. */
  get delayMs(): number {
    return (1_000 * this.delaySamples) / this.sampleRateHz + 10;
  }

  get figures(): EngineFigures {
    const { steps, nearFrames, energyIn, energyOut, hop } = this.#stream;
    const framesIn = Math.floor(this.#samplesIn / (this.sampleRateHz / 100));
    return {
      framesIn,
      // The silence that drives the last sound out at the end is no frame of the caller's.
      framesFiltered: Math.min(steps, framesIn),
      nearShare: steps === 0 ? 0 : nearFrames / steps,
      levelRemovedDb: 10 * Math.log10((energyIn + 1e-9 * hop) / (energyOut + 1e-9 * hop)),
      cpuMs: this.#meter.cpuMs,
    };
  }

  /**
   * Takes any number of samples and gives back all that are ready: with whole steps of 10 ms as many as went in.
   * Floats are −1 to 1; what is no number counts as silence, what is louder is clipped. The result is overwritten
   * by the next call.
   */
  process(samples: Int16Array | Float32Array): Int16Array {
    if (this.#closed) throw new Error("This voice isolation session is closed");
    this.#meter.start();
    const input = samples instanceof Int16Array ? samples : this.#input.fromFloats(samples);
    this.#samplesIn += samples.length;
    const output = this.#run(input, samples.length);
    this.#meter.stop(samples.length);
    return output;
  }

  /** Gives out what is still inside; then `delaySamples` more came out than went in. The stream may go on. */
  flush(): Int16Array {
    if (this.#closed) throw new Error("This voice isolation session is closed");
    const wanted = this.#samplesIn + this.delaySamples - this.#samplesOut;
    // Enough silence to push the last sample out of every buffer inside.
    const silence = new Int16Array(wanted + Math.ceil(this.sampleRateHz / 50));
    const tail = this.#run(silence, silence.length);
    this.#samplesOut -= tail.length - wanted;
    this.#samplesIn += this.delaySamples;
    return tail.slice(0, wanted);
  }

  [Symbol.dispose](): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#stream.close();
  }

  #run(input: Int16Array, count: number): Int16Array {
    const output = this.#converted(input, count);
    this.#samplesOut += output.length;
    return output;
  }

  #converted(input: Int16Array, count: number): Int16Array {
    const { hop } = this.#stream;
    if (!this.#toDirect || !this.#fromDirect) {
      const room = this.#filtered.room(count + hop);
      return this.#filtered.view(this.#stream.process(input, count, room));
    }
    const direct = this.#direct.room(this.#toDirect.outputMax(count));
    const directCount = this.#toDirect.convert(input, count, direct);
    const filtered = this.#filtered.room(directCount + hop);
    const filteredCount = this.#stream.process(direct, directCount, filtered);
    const output = this.#output.room(this.#fromDirect.outputMax(filteredCount));
    return this.#output.view(this.#fromDirect.convert(filtered, filteredCount, output));
  }
}

/** One call in so many is measured: asking for the thread's CPU time costs about as much as a tenth of a step. */
const MEASURED_EVERY = 25;

/** Estimates the CPU time of many short calls from some of them. Time the thread had to wait does not count. */
class CpuMeter {
  #calls = 0;
  #work = 0;
  #measuredWork = 0;
  #measuredMs = 0;
  #startedMs: number | undefined;

  get cpuMs(): number {
    return this.#measuredWork === 0 ? 0 : (this.#measuredMs * this.#work) / this.#measuredWork;
  }

  start(): void {
    // The first call compiles; measuring it would charge every later one for that.
    this.#startedMs = this.#calls % MEASURED_EVERY === 1 ? threadCpuMs() : undefined;
    this.#calls += 1;
  }

  /** `work` is what the call's time is thought to grow with. */
  stop(work: number): void {
    this.#work += work;
    if (this.#startedMs === undefined) return;
    this.#measuredMs += threadCpuMs() - this.#startedMs;
    this.#measuredWork += work;
  }
}

function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/** Room for samples that is kept from call to call, so that a steady stream allocates nothing. */
class SampleBuffer {
  #samples = new Int16Array();
  #view = this.#samples;

  /** At least this much; what was in it is lost when it grows. */
  room(count: number): Int16Array {
    if (this.#samples.length < count)
      this.#samples = new Int16Array(Math.max(count, 2 * this.#samples.length));
    return this.#samples;
  }

  /** The first samples. The same array as before when they are as many as before. */
  view(count: number): Int16Array {
    if (this.#view.length !== count || this.#view.buffer !== this.#samples.buffer)
      this.#view = this.#samples.subarray(0, count);
    return this.#view;
  }

  fromFloats(values: Float32Array): Int16Array {
    const samples = this.room(values.length);
    for (let index = 0; index < values.length; index += 1) {
      const value = values[index] ?? 0;
      samples[index] = Number.isNaN(value)
        ? 0
        : Math.max(-32_768, Math.min(32_767, Math.round(value * 32_768)));
    }
    return samples;
  }
}
