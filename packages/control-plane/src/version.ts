/** Of the service. */
export const VERSION = "0.1.0";

/** Of the base that builds without a Dockerfile run on. */
export const BASE_VERSION = "0.2.0";
