import { segmentsOf } from "./segmenters.ts";

/** Words by which a listener says "go on". */
export const backChannels: readonly string[] = (
  "mm, mmm, hm, hmm, mhm, mm-hmm, mm-hm, mhmm, uh-huh, uhuh, huh, ah, aha, oh, yeah, yep, yup, yes, ok, okay, right, " +
  "sure, i see, got it, alright, all right, cool, great, good, nice, wow, really, " +
  "ja, genau, ach so, achso, stimmt, gut, oui, d'accord, voilà, sí, claro, vale, はい, うん, ええ, そうですか, 嗯, 对, 好, 好的"
).split(", ");

/** Counts the words of a text that are not back-channels. */
export function meaningfulWords(text: string, ignored: readonly string[] = backChannels): number {
  const phrases = ignored.map(tokens).toSorted((a, b) => b.length - a.length);
  const said = tokens(text);
  let count = 0;
  for (let at = 0; at < said.length;) {
    const phrase = phrases.find(
      (one) => one.length > 0 && one.every((token, offset) => token === said[at + offset]),
    );
    if (!phrase)
      count += [...segmentsOf(said[at] ?? "", "word")].filter(({ isWordLike }) => isWordLike).length;
    at += phrase?.length ?? 1;
  }
  return count;
}

function tokens(text: string): string[] {
  return text
    .toLowerCase()
    .split(/[^\p{L}\p{N}']+/u)
    .filter((token) => token !== "");
}
