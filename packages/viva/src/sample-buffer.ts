/** Room for samples that is kept from call to call, so that a steady stream allocates nothing. */
export class SampleBuffer {
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
