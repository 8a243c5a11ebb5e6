import { closestWord } from "@vocalhost/protocol";

/** Every name of the options, so that one that is added to them is added here. */
export type OptionNames<T> = Readonly<Record<keyof Required<T>, true>>;

/** Refuses an option that there is not, which would be ignored in silence. `of` completes "… has no option". */
export function checkOptions<T extends object>(
  of: string,
  given: T | undefined | null,
  names: OptionNames<T>,
): void {
  if (typeof given !== "object" || given === null) return;
  for (const name of Object.keys(given)) {
    if (Object.hasOwn(names, name)) continue;
    const known = Object.keys(names);
    const near = closestWord(name, known);
    throw new TypeError(
      `${of} has no option "${name}". ${near ? `Did you mean "${near}"?` : `It knows ${known.join(", ")}.`}`,
    );
  }
}
