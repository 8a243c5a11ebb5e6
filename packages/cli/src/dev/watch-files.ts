import { watch } from "chokidar";
import { basename, relative, resolve, sep } from "node:path";

export interface WatchOptions {
  /** Folder of the bot; its code counts. */
  folder: string;
  /** More files and folders; everything in them counts. */
  more: readonly string[];
  onChange(paths: string[]): void;
  onError(error: Error): void;
}

const SETTLE_MS = 100; // editors write in several steps, version control many files

/** Calls back when code was saved, however the editor saves. Resolves when it watches. */
export async function watchFiles({
  folder,
  more,
  onChange,
  onError,
}: WatchOptions): Promise<AsyncDisposable> {
  const extra = more.map((path) => resolve(path));
  const watcher = watch([folder, ...extra], {
    ignoreInitial: true,
    ignored: (path, stats) => {
      if (extra.some((root) => path === root || path.startsWith(root + sep))) return isUnwatched(path);
      if (isInside(folder, path, isUnwatched)) return true;
      return stats?.isFile() === true && !isCode(path);
    },
  });
  const changed = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  watcher.on("all", (event, path) => {
    if (event === "addDir" || event === "unlinkDir") return;
    changed.add(path);
    clearTimeout(timer);
    timer = setTimeout(() => {
      onChange([...changed]);
      changed.clear();
    }, SETTLE_MS);
  });
  watcher.on("error", (error) => onError(error as Error));
  const { promise, resolve: ready } = Promise.withResolvers<void>();
  watcher.once("ready", ready);
  await promise;
  return {
    async [Symbol.asyncDispose]() {
      clearTimeout(timer);
      await watcher.close();
    },
  };
}

/** Extensions of source files. The bot itself may write others. */
export function isCode(path: string): boolean {
  const name = basename(path);
  return /\.(?:[cm]?[jt]sx?|json)$/.test(name) || name === ".env";
}

function isInside(folder: string, path: string, isWanted: (part: string) => boolean): boolean {
  return relative(folder, path)
    .split(sep)
    .some((part) => part !== ".." && isWanted(part));
}

function isUnwatched(path: string): boolean {
  const name = basename(path);
  return name === "node_modules" || name === "dist" || (name.startsWith(".") && name !== ".env");
}
