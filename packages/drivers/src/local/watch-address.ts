import { instanceFiles } from "@vocalhost/protocol";
import { watch } from "node:fs";

/** Calls once when the instance in this folder has written where it listens. Gives the way to stop. */
export function watchAddress(folder: string, found: () => void): () => void {
  try {
    const watcher = watch(folder, { persistent: false }, (_event, name) => {
      if (name !== instanceFiles.address) return;
      watcher.close();
      found();
    });
    watcher.on("error", () => watcher.close()); // the next list finds the address anyway
    return () => watcher.close();
  } catch {
    return () => undefined;
  }
}
