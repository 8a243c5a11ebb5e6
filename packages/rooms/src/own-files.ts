import { findPackageJSON } from "node:module";
import { dirname, join } from "node:path";

/** Of this package, whether this is a source file or has become a part of a larger one. */
export const packageFolder = dirname(findPackageJSON(import.meta.url) ?? import.meta.dirname);

const isSource = import.meta.filename.endsWith(".ts");

/** A program or worker of this package, by its path among the sources, without the extension. */
export function ownProgram(path: string): string {
  return join(packageFolder, isSource ? `src/${path}.ts` : `dist/${path}.js`);
}
