/** The candidate a mistyped word most likely meant, if any is near enough. */
export function closestWord(word: string, candidates: readonly string[]): string | undefined {
  const plain = word.toLowerCase().replaceAll("-", "_").slice(0, WORD_MAX_CHARACTERS);
  const [best] = candidates
    .map((candidate) => ({ candidate, edits: edits(plain, candidate) }))
    .sort((left, right) => left.edits - right.edits);
  if (best && best.edits <= Math.max(1, Math.floor(best.candidate.length / 3))) return best.candidate;
  if (plain.length < 4) return undefined;
  // `profile` for `agent_profile`, `scale` for `scaling`
  const beginning = plain.slice(0, 4);
  return (
    candidates.find((candidate) => candidate.includes(plain)) ??
    candidates.find((candidate) => candidate.startsWith(beginning))
  );
}

const WORD_MAX_CHARACTERS = 64; // nobody means anything with a longer one

function edits(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, at) => at);
  for (let i = 1; i <= left.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= right.length; j += 1) {
      const change = (row[j - 1] ?? 0) + (left[i - 1] === right[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[right.length] ?? 0;
}
