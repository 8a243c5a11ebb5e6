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
  const lists = new Map<keyof Events, Set<Events[keyof Events]>>();
  return {
    on(event, listener) {
      const list = lists.get(event) ?? new Set();
      lists.set(event, list.add(listener));
    },
    off: (event, listener) => void lists.get(event)?.delete(listener),
    emit(event, ...args) {
      for (const listener of lists.get(event) ?? []) listener(...args);
    },
    has: (event) => (lists.get(event)?.size ?? 0) > 0,
  };
}
