/** The candidate a mistyped word most likely meant, if any is near enough. */
export function closestWord(word: string, candidates: readonly string[]): string | undefined {
  const meant = plain(word);
  const [best] = candidates
    .map((candidate) => ({ candidate, edits: editDistance(meant, plain(candidate)) }))
    .sort((left, right) => left.edits - right.edits);
  if (best && best.edits <= Math.max(1, Math.floor(best.candidate.length / 3))) return best.candidate;
  if (meant.length < 4) return undefined;
  // `profile` for `agent_profile`, `scale` for `scaling`
  const beginning = meant.slice(0, 4);
  return (
    candidates.find((candidate) => plain(candidate).includes(meant)) ??
    candidates.find((candidate) => plain(candidate).startsWith(beginning))
  );
}

const WORD_MAX_CHARACTERS = 64; // a longer word is no mistyped option

function plain(word: string): string {
  return word.toLowerCase().replaceAll("-", "_").slice(0, WORD_MAX_CHARACTERS);
}

/** Letters to change, add or drop; two that changed places count once. */
function editDistance(left: string, right: string): number {
  let before: number[] = [];
  let row = Array.from({ length: right.length + 1 }, (_, at) => at);
  for (let i = 1; i <= left.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= right.length; j += 1) {
      const change = (row[j - 1] ?? 0) + (left[i - 1] === right[j - 1] ? 0 : 1);
      const swapped = left[i - 1] === right[j - 2] && left[i - 2] === right[j - 1];
      const swap = i > 1 && j > 1 && swapped ? (before[j - 2] ?? 0) + 1 : Infinity;
      next.push(Math.min(change, swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    before = row;
    row = next;
  }
  return row[right.length] ?? 0;
}
