import { AppError } from "@vocalhost/protocol";
import { readFileSync } from "node:fs";
import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Keeps a controller that has lost the leadership without noticing from making or ending instances. */
export interface Fence {
  raise(epoch: number): Promise<void>;
  newest(): number;
  /** Throws when a newer leader has raised the fence. */
  check(): void;
}

const EPOCH_FILE = ".epoch";

export function createFence(root: string): Fence {
  const path = join(root, EPOCH_FILE);
  let ours = 0;

  function newest(): number {
    try {
      return Number(readFileSync(path, "utf8"));
    } catch {
      return 0; // no controller has led yet
    }
  }

  function check(): void {
    if (newest() > ours) throw new AppError("EPOCH_STALE");
  }

  return {
    newest,
    check,
    async raise(epoch) {
      ours = epoch;
      check();
      const own = `${path}.${process.pid}.tmp`;
      await writeFile(own, String(epoch), { mode: 0o600 });
      await rename(own, path);
    },
  };
}
