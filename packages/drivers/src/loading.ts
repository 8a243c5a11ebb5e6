/** CPU limit until an instance takes requests. The half core of a profile would double a cold start. */
export const LOADING_MILLICORES = 2_000;
/** After this time an instance gets the limit of its profile even if it still loads. */
export const LOADING_MAX_MS = 10_000;
/** CPU weight beside a bot with a call, until an instance takes requests: an instance that boots must not slow down a call. */
export const LOADING_SHARE = 0.25;
