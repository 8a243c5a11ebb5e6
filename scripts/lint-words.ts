// Checks the English of pages and comments: `node scripts/lint-words.ts [PATH…]` prints file:line, rule and text.
// The rules are in CONTRIBUTING.md. Without a path it checks what is listed in CHECKED.
import { globSync, readFileSync, statSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

export interface Finding {
  line: number;
  rule: "opener" | "subject" | "length" | "retired";
  text: string;
}

/** A paragraph, list item, table cell or comment, with the line each of its characters is on. */
interface Passage {
  text: string;
  lineOf(offset: number): number;
  /** Headings and the first row of a table are titles, not sentences. */
  isTitle: boolean;
}

const REPOSITORY = fileURLToPath(new URL("../", import.meta.url));
/** Pages, and the packages whose comments and messages follow the rules. */
const CHECKED = [
  "{README,CHANGELOG,ARCHITECTURE,bench/README}.md",
  "docs/{!(voice-isolation*),carriers/*,decisions/*}.md",
  "docs/hosted/!(configuration).md",
  "packages/{audio,store}",
  "packages/*/README.md",
  "scripts/{checks.ts,docs-site/*.ts}",
];
/** Files that must use the words below. At most ten lines. */
const EXCEPTIONS = ["scripts/lint-words.ts", "e2e/docs/lint-words.test.ts"];

const SENTENCE_MAX_WORDS = 30;
const OPENER =
  /^(?:What(?:ever)?|Who(?:ever|se)?|Of|One (?:that|who|which|of)|Those (?:that|who)|That which|All that|Nothing of|With every)\b(?!.*\?$)/;
const SUBJECT = /\b(?:whoever|nobody|somebody|anybody|everybody)\b/i;
/** Words of earlier glossaries, and the words that replace them. */
const RETIRED: [RegExp, string][] = [
  [/\bwall(?:s|ed)?\b(?![ -](?:clock|time))/i, "network policy"],
  [/\bwish(?:es|ed)?\b/i, "value, option or request"],
  [/\bstrangers?\b/i, "untrusted client"],
  [/\b(?:every|another|a) look at\b/i, "check or reconcile"],
  [/\bgoodbyes?\b/i, "close or hang-up"],
  [/\bof (?:its|their|one's) own accord\b/i, "by itself"],
];

export function lintText(name: string, text: string): Finding[] {
  const isPage = name.endsWith(".md");
  return (isPage ? passagesOfPage(text) : passagesOfSource(text)).flatMap((passage) =>
    sentencesOf(passage).flatMap(({ sentence, line }) => {
      const add = (rule: Finding["rule"], what: string): Finding => ({ line, rule, text: what });
      const words = sentence.split(/\s+/).filter((word) => /[\p{L}\d]/u.test(word)).length;
      return [
        ...(!passage.isTitle && OPENER.test(sentence.replace(/^[\W_]+/, ""))
          ? [add("opener", sentence)]
          : []),
        ...(SUBJECT.test(sentence) ? [add("subject", sentence)] : []),
        ...(isPage && words > SENTENCE_MAX_WORDS ? [add("length", `(${words} words) ${sentence}`)] : []),
        ...RETIRED.flatMap(([word, instead]) =>
          word.test(sentence) ? [add("retired", `(write ${instead}) ${sentence}`)] : [],
        ),
      ];
    }),
  );
}

function sentencesOf({ text, lineOf }: Passage): { sentence: string; line: number }[] {
  const starts = [0, ...[...text.matchAll(/[.?!]["')\]*_]*\s+(?=["'([*_`]*[\p{Lu}\d`])/gu)].map(endOf)];
  return starts
    .map((start, at) => ({ sentence: text.slice(start, starts[at + 1]).trim(), line: lineOf(start) }))
    .filter(({ sentence }) => sentence !== "");
}

function endOf(match: RegExpExecArray): number {
  return match.index + match[0].length;
}

function passagesOfPage(text: string): Passage[] {
  const passages: Passage[] = [];
  let open: [string, number][] = [];
  const close = (isTitle = false): void => {
    if (open.length > 0) passages.push(passageOf(open, isTitle));
    open = [];
  };
  const lines = blankOut(text, /^---\n[^]*?^---$|^( *)(`{3,}|~{3,})[^]*?^\1\2|<!--[^]*?-->/gm).split("\n");
  for (const [index, raw] of lines.entries()) {
    const line = raw
      .replaceAll(/`[^`]*`/g, "`x`")
      .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
      .replaceAll(/<[^>]+>|https?:\S+/g, "x");
    const [, mark = "", rest = ""] = /^(\s*(?:[-*>]|\d+\.|#+)\s+|\s*)(.*)$/.exec(line) ?? [];
    if (rest === "" || mark.trim() !== "") close();
    if (rest.startsWith("|")) {
      close();
      if (/^\|[ :|-]+$/.test(rest)) continue;
      const isTitle = /^\s*\|[ :|-]+$/.test(lines[index + 1] ?? "");
      for (const cell of rest.split("|")) passages.push(passageOf([[cell.trim(), index + 1]], isTitle));
    } else if (rest !== "") open.push([rest, index + 1]);
    if (mark.trim().startsWith("#")) close(true);
  }
  close();
  return passages;
}

/** Comments, and texts in quotes: what a program says is words of at least three. */
function passagesOfSource(text: string): Passage[] {
  const passages: Passage[] = [];
  let open: [string, number][] = [];
  const close = (): void => {
    if (open.length > 0) passages.push(passageOf(open, false));
    open = [];
  };
  let isInDoc = false;
  for (const [index, line] of text.split("\n").entries()) {
    const [, code = "", comment] =
      (isInDoc ? /^()\s*\*?(?!\/)(.*?)(?:\*\/.*)?$/ : /^(|.*?\s)(?:\/\/|\/\*+)(.*?)(?:\*\/.*)?$/).exec(
        line,
      ) ?? [];
    const opensDoc: boolean = !isInDoc && /(?:^|\s)\/\*/.test(line);
    if (code.trim() !== "" || comment === undefined || opensDoc || /^\s*@/.test(comment)) close();
    if (comment !== undefined)
      open.push([comment.replaceAll(/`[^`]*`/g, "`x`").replace(/^\s*@\w+/, ""), index + 1]);
    if (code.trim() !== "") close();
    isInDoc = (isInDoc || opensDoc) && !line.includes("*/");
    if (isInDoc) continue;
    for (const [quoted] of (comment === undefined ? line : code).matchAll(/"[^"]*"|`[^`]*`/g))
      if (quoted.split(" ").length > 3) passages.push(passageOf([[quoted.slice(1, -1), index + 1]], true));
  }
  close();
  return passages;
}

function passageOf(lines: [string, number][], isTitle: boolean): Passage {
  const text = lines.map(([line]) => line.trim()).join(" ");
  const lineOf = (offset: number): number => {
    let end = 0;
    for (const [line, number] of lines) {
      end += line.trim().length + 1;
      if (offset < end) return number;
    }
    return lines.at(-1)?.[1] ?? 1;
  };
  return { text, lineOf, isTitle };
}

/** Keeps line breaks, so that line numbers stay right. */
function blankOut(text: string, pattern: RegExp): string {
  return text.replaceAll(pattern, (match) => match.replaceAll(/[^\n]/g, ""));
}

function filesOf(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path];
  const isOurs = (name: string): boolean => !/(?:^|\/)(?:node_modules|dist|assembly)(?:\/|$)/.test(name);
  return globSync("**/*.{md,ts,tsx,cjs}", { cwd: path, exclude: (name) => !isOurs(name) })
    .map((name) => join(path, name))
    .filter((name) => isOurs(relative(REPOSITORY, name)))
    .toSorted();
}

if (import.meta.main) {
  const named = process.argv.slice(2);
  const paths =
    named.length > 0 ? named : globSync(CHECKED, { cwd: REPOSITORY }).map((path) => join(REPOSITORY, path));
  let findings = 0;
  for (const file of paths.flatMap(filesOf)) {
    const name = relative(REPOSITORY, resolve(file));
    if (EXCEPTIONS.includes(name)) continue;
    for (const { line, rule, text } of lintText(file, readFileSync(file, "utf8"))) {
      findings += 1;
      console.log(`${name}:${line}: ${rule}: ${text}`);
    }
  }
  if (findings > 0) console.log(`\n${findings} findings. CONTRIBUTING.md has the rules.`);
  process.exitCode = findings > 0 ? 1 : 0;
}
