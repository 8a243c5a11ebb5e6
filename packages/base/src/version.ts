export const VERSION = "0.1.0";

/** Base image version for builds whose Dockerfile does not name one. */
export const BASE_VERSION = "0.2.0";
