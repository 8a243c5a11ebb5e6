import type { BuildContext } from "./build-context.ts";

/** What a build says, kept in order while it runs. */
export interface BuildLog {
  add(text: string): void;
  /** Resolves when everything added is stored, or cannot be. */
  flush(): Promise<void>;
}

const LINES_MAX = 10_000; // as many as anybody can ask for
const LINE_MAX_CHARACTERS = 4_096;

export function createBuildLog(
  { store, log }: Pick<BuildContext, "store" | "log">,
  buildId: string,
): BuildLog {
  let number = 0;
  let waiting: { buildId: string; number: number; text: string }[] = [];
  let writing: Promise<void> | undefined;

  async function write(): Promise<void> {
    while (waiting.length > 0) {
      const lines = waiting.splice(0, 200);
      // A log that cannot be kept is no reason not to build.
      await store.db
        .insertInto("buildLogLines")
        .values(lines)
        .execute()
        .catch((error: unknown) => log.warn({ err: error, buildId }, "build log not kept"));
    }
    writing = undefined;
  }

  return {
    add(text) {
      if (number >= LINES_MAX) return;
      waiting.push({ buildId, number, text: inert(text).slice(0, LINE_MAX_CHARACTERS) });
      number += 1;
      writing ??= write();
    },
    async flush() {
      await writing;
    },
  };
}

// Terminals and pages show it: no colours, no moving of cursors.
function inert(text: string): string {
  // eslint-disable-next-line no-control-regex
  return text.replace(/\u001b\[[0-9;]*[A-Za-z]/g, "").replace(/[\p{Cc}\p{Cf}]/gu, " ");
}
