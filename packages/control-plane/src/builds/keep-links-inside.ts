import { readdir, readlink, realpath, rm } from "node:fs/promises";
import { dirname, join, resolve, sep } from "node:path";
import { BuildProblem } from "./build-problem.ts";

/** A folder whose links must stay inside it. */
export interface Fold {
  root: string;
  /** Named in the error as the holder of the link. */
  holder: "archive" | "build";
}

/** Checks the links npm made from a lock file, which may declare any package a link to any path. */
export async function keepBuildLinksInside(folder: string): Promise<void> {
  const fold: Fold = { root: await realpath(folder), holder: "build" };
  const entries = await readdir(fold.root, { withFileTypes: true, recursive: true });
  const paths = entries.flatMap((each) => (each.isSymbolicLink() ? [join(each.parentPath, each.name)] : []));
  for (const path of paths) requireInside({ path, target: await readlink(path) }, fold);
  await settleLinks(paths, fold);
}

/** Checks the text of the path only. */
export function requireInside({ path, target }: { path: string; target: string }, fold: Fold): void {
  if (target.startsWith("/") || !isInside(resolve(dirname(path), target), fold)) throw escaping(path, fold);
}

/** Resolves links through the file system, because a link may point at another link. No code has followed them yet. */
export async function settleLinks(paths: readonly string[], fold: Fold): Promise<void> {
  for (const path of paths) {
    const real = await realpath(path).catch(() => undefined);
    if (real === undefined) await rm(path); // the target was missing in the upload as well
    else if (!isInside(real, fold)) throw escaping(path, fold);
  }
}

function isInside(path: string, { root }: Fold): boolean {
  return path === root || path.startsWith(root + sep);
}

function escaping(path: string, { root, holder }: Fold): BuildProblem {
  const what = `The ${holder} holds a link that leaves its folder: ${path.slice(root.length + 1)}`;
  return new BuildProblem(
    holder === "archive"
      ? what
      : `${what}. Put the package into the bot's folder, and make package-lock.json anew`,
  );
}
