import { createSavedText, createStore } from "../../shared/store.ts";

/** The service no longer knows who we are. */
export const sessionLost = createStore(false);

/** Name of the organisation everything is about; empty until one is known. */
export const chosenOrganization = createSavedText("vocalhost-organization");
