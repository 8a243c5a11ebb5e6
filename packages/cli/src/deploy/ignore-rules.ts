import { matchesGlob } from "node:path";

/** Whether a path stays behind. */
export type IgnoreRules = (path: string, isFolder: boolean) => boolean;

/** Never part of a bot: installed again, history, secrets, and what the service keeps. */
const NEVER = [
  "node_modules",
  ".git",
  ".env",
  ".env.*",
  "*.pem",
  "*.key",
  ".vocalhost",
  "vocalhost.toml",
  ".DS_Store",
  "Thumbs.db",
  "*.log",
  "*.swp",
  ".vscode",
  ".idea",
];

/**
 * Patterns of the folder's ignore file and the project's own. A pattern without a slash matches at any depth, one with a
 * slash from the folder; the last that matches decides, and `!` takes back. Nothing takes back what is never packed.
 */
export function createIgnoreRules(lines: readonly string[]): IgnoreRules {
  const rules = lines.flatMap(parseLine);
  const never = NEVER.flatMap(parseLine);
  return (path, isFolder) => {
    const applies = (rule: Rule): boolean => (isFolder || !rule.isFolderOnly) && rule.matches(path);
    if (never.some(applies)) return true;
    return rules.findLast(applies)?.isIgnored ?? false;
  };
}

interface Rule {
  isIgnored: boolean;
  isFolderOnly: boolean;
  matches: (path: string) => boolean;
}

function parseLine(line: string): Rule[] {
  const text = line.trim();
  if (text === "" || text.startsWith("#")) return [];
  const isIgnored = !text.startsWith("!");
  const given = (isIgnored ? text : text.slice(1)).replace(/^\.\//, "");
  const isFolderOnly = given.endsWith("/");
  const pattern = given.replace(/\/+$/, "");
  if (pattern === "" || pattern === ".") return [];
  const isAnchored = pattern.includes("/");
  const anchored = pattern.replace(/^\//, "");
  const matches = isAnchored
    ? (path: string) => matchesGlob(path, anchored)
    : (path: string) => matchesGlob(path.slice(path.lastIndexOf("/") + 1), pattern);
  return [{ isIgnored, isFolderOnly, matches }];
}
