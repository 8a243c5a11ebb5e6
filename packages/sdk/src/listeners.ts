import { AsyncLocalStorage } from "node:async_hooks";

/** Named lists of callbacks. An exception of a callback goes to the emitter's caller. */
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
      // Runs in the async context of the code that registered it, so that its unhandled rejections belong to the
      // right session.
      lists.set(event, list.set(listener, AsyncLocalStorage.bind(listener)));
    },
    off: (event, listener) => void lists.get(event)?.delete(listener),
    emit(event, ...args) {
      for (const listener of lists.get(event)?.values() ?? []) listener(...args);
    },
    has: (event) => (lists.get(event)?.size ?? 0) > 0,
  };
}
