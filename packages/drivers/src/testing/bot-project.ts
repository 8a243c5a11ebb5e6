import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isBuilt } from "../../../../testing/programs.ts";

const SDK = fileURLToPath(new URL("../../../sdk/", import.meta.url));

/** A bot's folder as a build leaves it: the SDK is there, everything else is the bot's. */
export function writeBotProject(folder: string, bot: string): string {
  const packages = join(folder, "node_modules");
  mkdirSync(packages, { recursive: true });
  if (isBuilt) writeBuiltSdk(join(packages, "vocalhost"));
  else symlinkSync(SDK, join(packages, "vocalhost"));
  writeFileSync(join(folder, "package.json"), `{ "type": "module" }`);
  writeFileSync(join(folder, "bot.ts"), bot);
  return folder;
}

/** As it is installed, where this process would find the sources first. */
function writeBuiltSdk(folder: string): void {
  mkdirSync(folder);
  const manifest = readFileSync(join(SDK, "package.json"), "utf8");
  writeFileSync(join(folder, "package.json"), manifest.replaceAll("@vocalhost/source", "@vocalhost/none"));
  symlinkSync(join(SDK, "dist"), join(folder, "dist"));
}
