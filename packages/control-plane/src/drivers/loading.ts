/** Of processor time, until an instance takes requests; the profile's half core would double a cold start. */
export const LOADING_MILLICORES = 2_000;
/** One that still loads after this long has what its profile says like all others. */
export const LOADING_MAX_MS = 10_000;
