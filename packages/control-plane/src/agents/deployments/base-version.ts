/** The first base version with the voice filter. */
export const FILTER_BASE_VERSION = "0.1.8";

/** Returns the version of the official base if the reference names it. */
export function baseVersionOf(image: string): string | undefined {
  return /^(?:docker\.io\/)?vocalhost\/base:([^@]+)/.exec(image)?.[1];
}

/** Returns whether the base has the filter. A tag that is no version counts as the newest. */
export function hasFilter(baseVersion: string): boolean {
  const wanted = numbersOf(FILTER_BASE_VERSION);
  const given = numbersOf(baseVersion);
  if (!wanted || !given) return baseVersion === "latest";
  for (const [index, number] of wanted.entries()) {
    const difference = (given[index] ?? 0) - number;
    if (difference !== 0) return difference > 0;
  }
  return !/-/.test(baseVersion); // 0.1.8-rc.1 comes before 0.1.8
}

function numbersOf(version: string): number[] | undefined {
  const match = /^v?([0-9]{1,6})\.([0-9]{1,6})\.([0-9]{1,6})(?:[-+].*)?$/.exec(version);
  return match?.slice(1).map(Number);
}
