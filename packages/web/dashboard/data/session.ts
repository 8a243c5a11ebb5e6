import { createStore } from "../../shared/store.ts";

/** The service no longer knows who we are. */
export const sessionLost = createStore(false);
