import { closestWord } from "@vocalhost/protocol";

/** Requires every name of the options type, so that a new option is also listed here. */
export type OptionNames<T> = Readonly<Record<keyof Required<T>, true>>;

/** Throws for an unknown option, which would otherwise be ignored silently. `of` completes "… has no option". */
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
