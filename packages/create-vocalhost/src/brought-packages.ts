import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Packages that came in the same archive as this one, so that a project needs no registry for them. */
export interface BroughtPackages {
  /** Where they lie in the project: path → content. */
  files: Map<string, Uint8Array>;
  /** Name → what npm understands. */
  sources: Record<string, string>;
}

const FOLDER = fileURLToPath(new URL("../packages/", import.meta.url));
const IN_PROJECT = "packages";

/** Undefined when this package was installed by itself. */
export function broughtPackages(folder = FOLDER): BroughtPackages | undefined {
  if (!existsSync(folder)) return undefined;
  const names = JSON.parse(readFileSync(join(folder, "names.json"), "utf8")) as Record<string, string>;
  const archives = readdirSync(folder).filter((name) => name.endsWith(".tgz"));
  return {
    files: new Map(
      archives.map((name) => [`${IN_PROJECT}/${name}`, readFileSync(join(folder, name))] as const),
    ),
    sources: Object.fromEntries(
      Object.entries(names).map(([name, file]) => [name, `file:${IN_PROJECT}/${file}`]),
    ),
  };
}
