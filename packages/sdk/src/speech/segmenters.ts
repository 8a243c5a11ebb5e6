type Granularity = "sentence" | "word";

const made: Partial<Record<Granularity, Intl.Segmenter>> = {};

/** Parts of a text by Unicode's rules. Made when first used: the first of a process takes tens of milliseconds. */
export function segmentsOf(text: string, granularity: Granularity): Intl.Segments {
  return (made[granularity] ??= new Intl.Segmenter(undefined, { granularity })).segment(text);
}
