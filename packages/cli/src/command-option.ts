/** One option of a command; the builders below make them with the right type of value. */
export interface CommandOption<Value = unknown> {
  help: string;
  /** Name of the value in the help; "nothing" for a flag. */
  takes: string;
  short?: string | undefined;
  values?: readonly string[] | undefined;
  isList?: boolean;
  defaultValue?: Value | undefined;
  defaultText?: string | undefined;
  /** Throws an Error whose message says what is wanted. */
  parse: (text: string) => unknown;
  /** Carries the type; never there. */
  value?: Value;
}

export type OptionTable = Readonly<Record<string, CommandOption>>;

export type OptionValues<Options extends OptionTable> = {
  -readonly [Name in keyof Options]: Options[Name] extends CommandOption<infer Value> ? Value : never;
};

interface OptionText {
  help: string;
  takes?: string;
  short?: string;
}

export function text(option: OptionText): CommandOption<string | undefined> {
  return { ...option, takes: option.takes ?? "text", parse: (given) => given };
}

export function list(option: OptionText): CommandOption<string[]> {
  return {
    ...option,
    takes: option.takes ?? "text",
    isList: true,
    defaultValue: [],
    defaultText: "none",
    parse: (given) => given,
  };
}

export function flag(option: OptionText): CommandOption<boolean | undefined> {
  return { ...option, takes: "nothing", parse: (given) => given };
}

export function choice<const Name extends string>(
  option: OptionText & { values: readonly Name[]; default: Name },
): CommandOption<Name> {
  return { ...option, takes: option.takes ?? "name", defaultValue: option.default, parse: (given) => given };
}

export function optionalChoice<const Name extends string>(
  option: OptionText & { values: readonly Name[] },
): CommandOption<Name | undefined> {
  return { ...option, takes: option.takes ?? "name", parse: (given) => given };
}

export function number(
  option: OptionText & { parse: (text: string) => number },
): CommandOption<number | undefined> {
  return { ...option, takes: option.takes ?? "number" };
}

/** `500ms`, `20s`, `2m`; a bare number is seconds. Gives milliseconds. */
export function parseDurationMs(given: string): number {
  const match = /^(\d+(?:\.\d+)?)\s*(ms|s|m)?$/.exec(given.trim());
  if (!match) throw new Error(`"${given}" is not a time. Write for example 500ms, 20s or 2m.`);
  const factor = { ms: 1, s: 1000, m: 60_000 }[match[2] ?? "s"] ?? 1000;
  return Number(match[1]) * factor;
}

/** `2%` or `2`. */
export function parsePercent(given: string): number {
  const percent = Number(/^(\d+(?:\.\d+)?)\s*%?$/.exec(given.trim())?.[1] ?? Number.NaN);
  if (percent >= 0 && percent <= 100) return percent;
  throw new Error(`"${given}" is not a percentage. Write for example 2%.`);
}
