import { existsSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { Problem } from "../problem.ts";

export interface FoundBot {
  file: string;
  /** What is left of the command line; the bot's process gets it. */
  flags: string[];
}

/** The bot named among the words, or the one the folder has by convention. */
export function findBot(words: readonly string[], workingFolder: string): FoundBot {
  const at = words.findIndex((word) => /\.[cm]?[jt]s$/.test(word) && !word.startsWith("-"));
  const named = words[at];
  if (named === undefined) return { file: conventionalBot(workingFolder), flags: [...words] };
  const file = resolve(workingFolder, named);
  if (!isFile(file))
    throw new Problem("bot_not_found", `${named} does not exist`, {
      why: `Looked for ${file}`,
      fixes: ["Name your bot's file: vocalhost dev path/to/bot.ts"],
    });
  return { file, flags: words.toSpliced(at, 1) };
}

const BOT_FILES = ["bot.ts", "bot.js", "bot.mjs"];

function conventionalBot(workingFolder: string): string {
  const found = BOT_FILES.map((name) => join(workingFolder, name)).find(isFile);
  if (found) return found;
  throw new Problem("bot_not_found", "There is no bot here", {
    why: `${workingFolder} has none of ${BOT_FILES.join(", ")}`,
    fixes: ["Name your bot's file: vocalhost dev path/to/bot.ts", "Create one: npm create vocalhost my-bot"],
  });
}

function isFile(path: string): boolean {
  return existsSync(path) && statSync(path).isFile();
}
