/** Of processor time, until an instance takes requests; the profile's half core would double a cold start. */
export const LOADING_MILLICORES = 2_000;
/** One that still loads after this long has what its profile says like all others. */
export const LOADING_MAX_MS = 10_000;
/** Beside a bot with a call, until it takes requests: the next caller's instance must not hold up this one. */
export const LOADING_SHARE = 0.25;
