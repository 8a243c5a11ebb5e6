type Granularity = "sentence" | "word";

const made: Partial<Record<Granularity, Intl.Segmenter>> = {};

/** Splits a text by Unicode's rules. Segmenters are created on first use, which takes tens of milliseconds. */
export function segmentsOf(text: string, granularity: Granularity): Intl.Segments {
  return (made[granularity] ??= new Intl.Segmenter(undefined, { granularity })).segment(text);
}
