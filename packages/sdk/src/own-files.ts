import { findPackageJSON } from "node:module";
import { dirname, join } from "node:path";

/** Root folder of this package, also when this module is part of a bundle. */
export const packageFolder = dirname(findPackageJSON(import.meta.url) ?? import.meta.dirname);

const isSource = import.meta.filename.endsWith(".ts");

/** Returns the path of a program or worker of this package, given its path among the sources without extension. */
export function ownProgram(path: string): string {
  return join(packageFolder, isSource ? `src/${path}.ts` : `dist/${path}.js`);
}
