import type { LogLine } from "@vocalhost/protocol";
import { createStore, type Store } from "../../shared/store.ts";

/** Lines as they are shown; a new object whenever there are others. */
export interface LogLines {
  lines: readonly LogLine[];
  /** Number of the first line among all that ever arrived, so that a selection stays on its line. */
  firstNumber: number;
  /** Came while paused, and wait. */
  waiting: number;
}

export interface LogBuffer extends Store<LogLines> {
  add(lines: readonly LogLine[]): void;
  /** Lines from before the first. */
  addEarlier(lines: readonly LogLine[]): void;
  setPaused(paused: boolean): void;
  clear(): void;
}

export const LINES_MAX = 10_000;

/** Keeps the newest lines. While it is paused, what comes is kept aside, up to the same number. */
export function createLogBuffer(linesMax = LINES_MAX): LogBuffer {
  const store = createStore<LogLines>({ lines: [], firstNumber: 0, waiting: 0 });
  let aside: LogLine[] = [];
  let paused = false;

  function append(added: readonly LogLine[]): void {
    const { lines, firstNumber } = store.get();
    const all = [...lines, ...added];
    const dropped = Math.max(0, all.length - linesMax);
    store.set({ lines: all.slice(dropped), firstNumber: firstNumber + dropped, waiting: 0 });
  }

  return {
    get: store.get,
    subscribe: store.subscribe,
    add(lines) {
      if (lines.length === 0) return;
      if (!paused) return append(lines);
      aside = [...aside, ...lines].slice(-linesMax);
      store.set({ ...store.get(), waiting: aside.length });
    },
    addEarlier(earlier) {
      const { lines, firstNumber, waiting } = store.get();
      const first = lines[0]?.timestamp;
      const older = first === undefined ? earlier : earlier.filter(({ timestamp }) => timestamp < first);
      const kept = older.slice(-Math.max(0, linesMax - lines.length));
      store.set({ lines: [...kept, ...lines], firstNumber: firstNumber - kept.length, waiting });
    },
    setPaused(next) {
      paused = next;
      if (paused) return;
      const came = aside;
      aside = [];
      append(came);
    },
    clear() {
      aside = [];
      const { lines, firstNumber } = store.get();
      store.set({ lines: [], firstNumber: firstNumber + lines.length, waiting: 0 });
    },
  };
}
