import { createSavedText } from "../../shared/store.ts";

/** Name of the organisation everything is about; empty until one is known. */
export const chosenOrganization = createSavedText("vocalhost-organization");
