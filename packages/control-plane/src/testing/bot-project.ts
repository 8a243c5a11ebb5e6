import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const SDK = fileURLToPath(new URL("../../../sdk/", import.meta.url));

/** A bot's folder as a build leaves it: the SDK is there, everything else is the bot's. */
export function writeBotProject(folder: string, bot: string): string {
  mkdirSync(join(folder, "node_modules"), { recursive: true });
  symlinkSync(SDK, join(folder, "node_modules/vocalhost"));
  writeFileSync(join(folder, "package.json"), `{ "type": "module" }`);
  writeFileSync(join(folder, "bot.ts"), bot);
  return folder;
}
