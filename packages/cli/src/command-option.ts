/** One option of a command. The builders below give it the type of its value. */
export interface CommandOption<Value = unknown> {
  help: string;
  /** Name of the value in the help; "nothing" for a flag. */
  takes: string;
  short?: string | undefined;
  values?: readonly string[] | undefined;
  isList?: boolean;
  /** A flag that switches something off: `open` becomes `--no-open`, and its value is true without it. */
  isNegated?: boolean;
  defaultValue?: Value | undefined;
  defaultText?: string | undefined;
  /** Throws an Error whose message says what is wanted. */
  parse: (text: string) => unknown;
  /** Carries the type; never set. */
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

export function list(option: OptionText & { defaultText?: string }): CommandOption<string[]> {
  return {
    ...option,
    takes: option.takes ?? "text",
    isList: true,
    defaultValue: [],
    defaultText: option.defaultText ?? "none",
    parse: (given) => given,
  };
}

/** An option with a value of any parsed type. */
export function parsed<Value>(
  option: OptionText & { takes: string; parse: (text: string) => Value },
): CommandOption<Value | undefined> {
  return option;
}

export function flag(option: OptionText): CommandOption<boolean | undefined> {
  return { ...option, takes: "nothing", parse: (given) => given };
}

export function negatedFlag(option: OptionText): CommandOption<boolean> {
  return { ...option, takes: "nothing", isNegated: true, parse: (given) => given };
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

/** A positional argument. Its value is passed among the options, under its name. */
export interface CommandArgument<Value = unknown> {
  help: string;
  takes: "one" | "one-or-none" | "any";
  /** @default its key */
  shown?: string | undefined;
  values?: readonly string[] | undefined;
  value?: Value;
}

export type ArgumentTable = Readonly<Record<string, CommandArgument>>;

export type ArgumentValues<Arguments extends ArgumentTable> = {
  -readonly [Name in keyof Arguments]: Arguments[Name] extends CommandArgument<infer Value> ? Value : never;
};

interface ArgumentText {
  help: string;
  shown?: string;
}

export function word(argument: ArgumentText): CommandArgument<string> {
  return { ...argument, takes: "one" };
}

export function optionalWord(argument: ArgumentText): CommandArgument<string | undefined> {
  return { ...argument, takes: "one-or-none" };
}

export function words(argument: ArgumentText): CommandArgument<string[]> {
  return { ...argument, takes: "any" };
}

export function wordOf<const Name extends string>(
  argument: ArgumentText & { values: readonly Name[] },
): CommandArgument<Name> {
  return { ...argument, takes: "one" };
}

/** `500ms`, `20s`, `2m`; a bare number is seconds. Gives milliseconds. */
export function parseDurationMs(given: string): number {
  const match = /^(\d+(?:\.\d+)?)\s*(ms|s|m)?$/.exec(given.trim());
  if (!match) throw new Error(`"${given}" is not a time. For example: 500ms, 20s or 2m.`);
  const factor = { ms: 1, s: 1000, m: 60_000 }[match[2] ?? "s"] ?? 1000;
  return Number(match[1]) * factor;
}

/** `2%` or `2`. */
export function parsePercent(given: string): number {
  const percent = Number(/^(\d+(?:\.\d+)?)\s*%?$/.exec(given.trim())?.[1] ?? Number.NaN);
  if (percent >= 0 && percent <= 100) return percent;
  throw new Error(`"${given}" is not a percentage. For example: 2%.`);
}

export function parseWholeNumber({ min, max }: { min: number; max: number }): (given: string) => number {
  return (given) => {
    const value = /^\d+$/.test(given.trim()) ? Number(given) : Number.NaN;
    if (value >= min && value <= max) return value;
    throw new Error(`"${given}" is not a whole number from ${min} to ${max}.`);
  };
}
