const HEAP_SHARE = 0.75; // the rest is for audio, codecs, threads and buffers, which are outside of the heap

/** Returns the option for V8 by which a bot short of memory collects its garbage before the kernel ends it. */
export function heapLimit(memoryMib: number): string {
  return `--max-old-space-size=${Math.floor(memoryMib * HEAP_SHARE)}`;
}
