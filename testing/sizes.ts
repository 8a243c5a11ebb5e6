// `npm run check` proves every promise once; `npm run check:long` runs the files that choose a size, at the long one.
const isLong = process.env["VOCALHOST_TEST_SIZES"] === "long";

/** How often, how many, how long: enough to prove the promise, and what a change to its subject has to stand. */
export function size<T>(usual: T, long: T): T {
  return isLong ? long : usual;
}
