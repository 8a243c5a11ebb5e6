import { readFile } from "node:fs/promises";
import { text as readAll } from "node:stream/consumers";
import { Problem, usageProblem } from "../problem.ts";

/** One secret of a set. */
export interface SecretPair {
  secretKey: string;
  secretValue: string;
}

const KEY = /^[A-Za-z0-9_-]{1,64}$/;

/** From the command line, or from a file of `KEY=VALUE` lines; `-` is standard input. */
export async function readPairs(given: readonly string[], file: string | undefined): Promise<SecretPair[]> {
  if (given.length > 0 && file !== undefined)
    throw usageProblem("KEY=VALUE and --file cannot be used together.", "Use one of them.");
  if (given.length === 0 && file === undefined)
    throw usageProblem("No secrets given.", "Write KEY=VALUE, or name a file of such lines with --file.");
  const pairs =
    file === undefined
      ? given.map((text) => parsePair(text, `"${shownKey(text)}"`))
      : parseLines(await readText(file), file);
  if (pairs.length === 0) throw usageProblem(`There are no secrets in ${file ?? ""}.`);
  return pairs;
}

function parseLines(text: string, file: string): SecretPair[] {
  return text.split("\n").flatMap((line, at) => {
    const trimmed = line.trim();
    if (trimmed === "" || trimmed.startsWith("#")) return [];
    return [parsePair(trimmed, `${file}, line ${at + 1}`)];
  });
}

// The text behind the first `=` may be a secret, so no message shows it.
function parsePair(text: string, place: string): SecretPair {
  const cut = text.indexOf("=");
  const secretKey = text.slice(0, Math.max(0, cut)).trim();
  const value = text.slice(cut + 1).trim();
  const secretValue = /^".*"$/s.test(value) ? value.slice(1, -1) : value;
  if (cut < 0) throw usageProblem(`${place}: there is no "=".`, "Write KEY=VALUE.");
  if (!KEY.test(secretKey))
    throw usageProblem(
      `${place}: "${secretKey}" cannot be a key.`,
      "A key is up to 64 letters, digits, _ and -.",
    );
  if (secretValue === "")
    throw usageProblem(`${place}: ${secretKey} has no value.`, "To remove it: vocalhost secrets unset");
  return { secretKey, secretValue };
}

function shownKey(text: string): string {
  return text.includes("=") ? `${text.slice(0, text.indexOf("="))}=…` : "…";
}

async function readText(file: string): Promise<string> {
  try {
    return await (file === "-" ? readAll(process.stdin) : readFile(file, "utf8"));
  } catch (error) {
    throw new Problem("file_unreadable", `Cannot read ${file}`, {
      why: (error as Error).message,
      cause: error,
    });
  }
}
