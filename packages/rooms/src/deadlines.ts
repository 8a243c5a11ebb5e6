/** Named timers of one owner, all ended together. */
export interface Deadlines<Name extends string> {
  set(name: Name, afterMs: number, run: () => void): void;
  clear(name: Name): void;
  clearAll(): void;
}

export function createDeadlines<Name extends string>(): Deadlines<Name> {
  const timers = new Map<Name, NodeJS.Timeout>();
  function clear(name: Name): void {
    clearTimeout(timers.get(name));
    timers.delete(name);
  }
  return {
    set(name, afterMs, run) {
      clear(name);
      timers.set(
        name,
        setTimeout(() => {
          timers.delete(name);
          run();
        }, afterMs),
      );
    },
    clear,
    clearAll() {
      for (const name of [...timers.keys()]) clear(name);
    },
  };
}
