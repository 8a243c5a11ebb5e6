/** A value that tells when it changes. */
export interface Store<T> {
  get(): T;
  subscribe(listener: () => void): () => void;
}

export interface WritableStore<T> extends Store<T> {
  set(value: T): void;
}

export function createStore<T>(initial: T): WritableStore<T> {
  let value = initial;
  const listeners = new Set<() => void>();
  return {
    get: () => value,
    set(next) {
      if (Object.is(next, value)) return;
      value = next;
      for (const listener of listeners) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** A text that survives a reload, in this browser. */
export function createSavedText(key: string, initial = ""): WritableStore<string> {
  const store = createStore(read(key) ?? initial);
  return {
    ...store,
    set(value) {
      store.set(value);
      try {
        localStorage.setItem(key, value);
      } catch {} // private windows may forbid it; the choice then lasts as long as the page
    },
  };
}

function read(key: string): string | undefined {
  try {
    return localStorage.getItem(key) ?? undefined;
  } catch {
    return undefined;
  }
}
