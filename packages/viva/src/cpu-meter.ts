/** One call in so many is measured: asking for the thread's CPU time costs about as much as a tenth of a step. */
const MEASURED_EVERY = 25;

/** Estimates the CPU time of many short calls from some of them. Time the thread had to wait does not count. */
export class CpuMeter {
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
