import type { OperateOptions } from "../operate/operate-options.ts";
import { askProgram } from "../operate/run-operation.ts";
import { failed, ok, reasonOf, skipped, type Hop } from "./hop.ts";

interface Checked {
  store: { file: string; problem: string | null } | null;
}

/** Checks that the SQLite file of the service on this machine is whole. */
export async function checkDatabase(options: OperateOptions, signal: AbortSignal): Promise<Hop> {
  try {
    const { store } = await askProgram<Checked>({ words: ["check-store"], options }, { signal });
    if (!store) return skipped("database", "there is no SQLite file here");
    const { file, problem } = store;
    if (problem === null) return ok("database", `${file} is whole`);
    const fix = "Stop the service, move the file away and restore the newest backup: vocalhost restore";
    return failed("database", `${file} is damaged: ${problem}`, fix);
  } catch (error) {
    signal.throwIfAborted();
    return skipped("database", `the database could not be checked: ${reasonOf(error)}`);
  }
}
