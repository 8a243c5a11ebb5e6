import { findPackageJSON } from "node:module";
import { dirname, join } from "node:path";

/** The folder of the package that a module is part of, whether as a source file or inside a bundle. */
export function packageFolderOf({ url, dirname: folder }: ImportMeta): string {
  return dirname(findPackageJSON(url) ?? folder);
}

/** A program or worker of that package, by its path among the sources, without the extension. */
export function ownProgram(meta: ImportMeta, path: string): string {
  const isSource = meta.filename.endsWith(".ts");
  return join(packageFolderOf(meta), isSource ? `src/${path}.ts` : `dist/${path}.js`);
}
