import { AsyncLocalStorage } from "node:async_hooks";

/** Named lists of callbacks. A callback that throws is the emitter's caller's to deal with. */
export interface Listeners<Events extends Record<keyof Events, (...args: never[]) => void>> {
  on<E extends keyof Events>(event: E, listener: Events[E]): void;
  off<E extends keyof Events>(event: E, listener: Events[E]): void;
  emit<E extends keyof Events>(event: E, ...args: Parameters<Events[E]>): void;
  has(event: keyof Events): boolean;
}

export function createListeners<
  Events extends Record<keyof Events, (...args: never[]) => void>,
>(): Listeners<Events> {
  type Listener = Events[keyof Events];
  const lists = new Map<keyof Events, Map<Listener, Listener>>();
  return {
    on(event, listener) {
      const list = lists.get(event) ?? new Map<Listener, Listener>();
      if (list.has(listener)) return;
      // Runs as part of what registered it, so that a promise it forgets is known to be a session's.
      lists.set(event, list.set(listener, AsyncLocalStorage.bind(listener)));
    },
    off: (event, listener) => void lists.get(event)?.delete(listener),
    emit(event, ...args) {
      for (const listener of lists.get(event)?.values() ?? []) listener(...args);
    },
    has: (event) => (lists.get(event)?.size ?? 0) > 0,
  };
}
