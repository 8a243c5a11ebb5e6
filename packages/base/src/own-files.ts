import { findPackageJSON } from "node:module";
import { dirname, join } from "node:path";

/** Returns the folder of the package that contains a module, as a source file or inside a bundle. */
export function packageFolderOf({ url, dirname: folder }: ImportMeta): string {
  return dirname(findPackageJSON(url) ?? folder);
}

/** Returns the file of a program or worker of that package. `path` is relative to the sources and has no extension. */
export function ownProgram(meta: ImportMeta, path: string): string {
  const isSource = meta.filename.endsWith(".ts");
  return join(packageFolderOf(meta), isSource ? `src/${path}.ts` : `dist/${path}.js`);
}
