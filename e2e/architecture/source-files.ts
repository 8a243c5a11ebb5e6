import { globSync, readFileSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

export const REPOSITORY = fileURLToPath(new URL("../../", import.meta.url));

export interface SourceFile {
  /** From the repository's root. */
  path: string;
  /** Folder of its package under `packages/`. */
  package: string;
  /** From the package's `src`, or from the package itself where there is none. */
  place: string;
  text: string;
  imports: Import[];
  isTest: boolean;
}

export interface Import {
  /** As written. */
  specifier: string;
  /** Only types: gone when the file runs. */
  isType: boolean;
  /** Returns the file that a relative import names, from the repository's root. */
  target: string | undefined;
}

/** Every source file of every package. Builds, installed packages and AssemblyScript are not TypeScript of ours. */
export function readSources(): SourceFile[] {
  const paths = globSync("packages/*/**/*.{ts,tsx,js,mjs,cjs}", {
    cwd: REPOSITORY,
    exclude: (path) =>
      /(?:^|\/)(?:node_modules|dist|client-page|dashboard-page|docs-page|models|fixtures|assembly)$/.test(
        path,
      ),
  });
  return paths.sort().map(readSource);
}

/** Specifiers that load another module, in the order they are written. */
export function importsIn(text: string): Omit<Import, "target">[] {
  const code = text.replace(/^\s*\/\/.*$/gm, "").replace(/^\s*\/\*.*?\*\//gms, "");
  const patterns = [
    /^\s*(?:import|export)\s+(?<type>type\s)?[^"';]*?\bfrom\s+["'](?<specifier>[^"'$]+)["']/gm,
    /^\s*import\s+["'](?<specifier>[^"']+)["']/gm,
    /\b(?:import|require|createRequire\([^)]*\))\(\s*["'](?<specifier>[^"']+)["']\s*\)/g,
  ];
  return patterns.flatMap((pattern) =>
    [...code.matchAll(pattern)].map(({ groups }) => ({
      specifier: groups?.["specifier"] ?? "",
      isType: groups?.["type"] !== undefined,
    })),
  );
}

function readSource(path: string): SourceFile {
  const text = readFileSync(resolve(REPOSITORY, path), "utf8");
  const [, name = "", place = ""] = /^packages\/([^/]+)\/(?:src\/)?(.*)$/.exec(path) ?? [];
  return {
    path,
    package: name,
    place,
    text,
    isTest: /\.test\.tsx?$/.test(path) || /(?:^|\/)testing\//.test(place),
    imports: importsIn(text).map((found) => ({
      ...found,
      target: found.specifier.startsWith(".")
        ? relative(REPOSITORY, resolve(REPOSITORY, dirname(path), found.specifier))
        : undefined,
    })),
  };
}
