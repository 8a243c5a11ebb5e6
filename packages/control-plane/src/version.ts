/** Of the service. */
export const VERSION = "0.1.0";

/** Of the base that builds run on whose Dockerfile does not name one. */
export const BASE_VERSION = "0.2.0";
