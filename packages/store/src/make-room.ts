import { isDiskFullError } from "./store-errors.ts";
import type { Store } from "./store.ts";

const TRIES_MAX = 5; // whoever fills the disk may be as quick as we are

/**
 * The store with a way to make room on a full disk: ends of sessions, agents and everything else that lets go of space
 * must not be refused for want of it. What would use more is refused before it comes here.
 */
export function withRoom(store: Store, makeSpace: () => Promise<unknown>): Store {
  return {
    ...store,
    async transaction(run, options) {
      for (let attempt = 1; ; attempt++) {
        try {
          return await store.transaction(run, options);
        } catch (error) {
          if (attempt === TRIES_MAX || !isDiskFullError(error)) throw error;
          await makeSpace();
        }
      }
    },
  };
}
