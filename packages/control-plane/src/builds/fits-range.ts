/** Whether a version fits what package.json asks for; undefined when that is no range of versions. */
export function fitsRange(version: string, range: string): boolean | undefined {
  const wanted = range.trim().replace(/^workspace:/, "");
  if (/^(?:\*|latest|next|x|)$/i.test(wanted)) return true;
  if (/[:/]/.test(wanted)) return undefined; // a file, an address, a repository
  const parsed = parse(version);
  if (!parsed) return undefined;
  const alternatives = wanted.split("||").map((part) => comparatorsOf(part.trim()));
  if (alternatives.some((comparators) => comparators === undefined)) return undefined;
  return alternatives.some((comparators) => comparators?.every((isMet) => isMet(parsed)));
}

type Version = [number, number, number];
type Comparator = (version: Version) => boolean;

function comparatorsOf(text: string): Comparator[] | undefined {
  const [, low, high] = /^(\S+)\s+-\s+(\S+)$/.exec(text) ?? [];
  const words = low && high ? [`>=${low}`, `<=${high}`] : text.replace(/([<>=~^])\s+/g, "$1").split(/\s+/);
  const comparators = words.map(comparatorOf);
  return comparators.every((comparator) => comparator !== undefined) ? comparators : undefined;
}

function comparatorOf(word: string): Comparator | undefined {
  const match = /^(\^|~|>=|<=|>|<|=|)v?(\d+|x|\*)(?:\.(\d+|x|\*))?(?:\.(\d+|x|\*))?(?:[-+].*)?$/i.exec(word);
  if (!match) return undefined;
  const [, operator = "", ...texts] = match;
  const given = texts.filter((text) => /^\d+$/.test(text ?? "")).map(Number);
  const from: Version = [given[0] ?? 0, given[1] ?? 0, given[2] ?? 0];
  const above = (version: Version): boolean => compare(version, from) >= 0;
  const below =
    (limit: Version): Comparator =>
    (version) =>
      above(version) && compare(version, limit) < 0;
  if (given.length === 0) return () => true;
  switch (operator) {
    case "^": {
      const fixed = from.findIndex((number) => number > 0);
      return below(next(from, Math.min(fixed < 0 ? given.length - 1 : fixed, given.length - 1)));
    }
    case "~":
      return below(next(from, Math.min(1, given.length - 1)));
    case ">=":
      return above;
    case ">":
      return (version) =>
        compare(version, given.length < 3 ? next(from, given.length - 1) : from) >
        (given.length < 3 ? -1 : 0);
    case "<":
      return (version) => compare(version, from) < 0;
    case "<=":
      return (version) =>
        given.length < 3 ? compare(version, next(from, given.length - 1)) < 0 : compare(version, from) <= 0;
    default:
      return given.length < 3
        ? below(next(from, given.length - 1))
        : (version) => compare(version, from) === 0;
  }
}

/** The first version whose part at `at` is one higher. */
function next(version: Version, at: number): Version {
  return version.map((number, index) => (index < at ? number : index === at ? number + 1 : 0)) as Version;
}

function compare(left: Version, right: Version): number {
  for (const [index, number] of left.entries())
    if (number !== right[index]) return number - (right[index] ?? 0);
  return 0;
}

function parse(version: string): Version | undefined {
  const match = /^v?(\d+)\.(\d+)\.(\d+)/.exec(version);
  return match ? [Number(match[1]), Number(match[2]), Number(match[3])] : undefined;
}
