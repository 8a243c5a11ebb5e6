import { existsSync, realpathSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Bot, BotDefinition } from "../bot/bot.ts";

export interface BotPlaces {
  /** A file named by the user. */
  path?: string | undefined;
  /** The program that was started. */
  mainPath: string | undefined;
  workingFolder: string;
}

/** Finds the bot without running any file that would not run anyway. */
export async function loadBot(places: BotPlaces): Promise<BotDefinition> {
  if (places.path !== undefined) return fromNamedFile(resolve(places.workingFolder, places.path));
  const main = places.mainPath && existsSync(places.mainPath) ? realpathSync(places.mainPath) : undefined;
  const definition = main ? botIn(await importFile(main)) : undefined;
  if (definition) return definition;
  const conventional = BOT_FILES.map((name) => join(places.workingFolder, name)).find((file) =>
    existsSync(file),
  );
  if (conventional && conventional !== main) return fromNamedFile(conventional);
  throw new BotNotFoundError(
    `No bot found. Export an async function named "bot" from ${main ?? "the program you start"}, ` +
      `or from ${BOT_FILES.join(", ")} in ${places.workingFolder}, or name the file: node server.ts path/to/bot.ts`,
  );
}

export class BotNotFoundError extends Error {
  override readonly name = "BotNotFoundError";
}

const BOT_FILES = ["bot.ts", "bot.js", "bot.mjs"];

async function fromNamedFile(path: string): Promise<BotDefinition> {
  if (!existsSync(path)) throw new BotNotFoundError(`No bot found: there is no file ${path}`);
  const definition = botIn(await importFile(realpathSync(path)));
  if (definition) return definition;
  throw new BotNotFoundError(`${path} exports no bot. Add: export async function bot(args) { … }`);
}

function importFile(path: string): Promise<Record<string, unknown>> {
  return import(pathToFileURL(path).href) as Promise<Record<string, unknown>>;
}

function botIn(module: Record<string, unknown>): BotDefinition | undefined {
  const { bot, prewarm, readyz, default: fallback } = module;
  if (isDefinition(fallback)) return fallback;
  if (typeof bot !== "function") return undefined;
  return {
    bot: bot as Bot,
    ...(typeof prewarm === "function" ? { prewarm: prewarm as () => void } : {}),
    ...(typeof readyz === "function" ? { readyz: readyz as () => boolean } : {}),
  };
}

function isDefinition(value: unknown): value is BotDefinition {
  return typeof value === "object" && value !== null && "bot" in value && typeof value.bot === "function";
}
