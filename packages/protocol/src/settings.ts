import { z } from "zod";
import { parseJson } from "./parse-json.ts";

/** A variable that a program of ours reads. Its configuration, documentation and chart derive from this row. */
export interface Setting {
  /** The whole name of the variable. */
  name: string;
  /** Takes the text of the variable, or `undefined` where it is unset or empty. @default optional text */
  schema?: z.ZodType;
  help: string;
  /** Describes the default in documentation. @default that of the schema */
  preset?: string;
  /** The value is never shown. */
  isSecret?: true;
}

export type Settings = Readonly<Record<string, Setting>>;
export type ValuesOf<Rows extends Settings> = {
  -readonly [Key in keyof Rows]: Rows[Key] extends { schema: infer Schema extends z.ZodType }
    ? z.output<Schema>
    : string | undefined;
};

const optionalText = z.string().optional();

/** The values of the rows, by their keys. Throws an error whose message names every variable that is wrong. */
export function readSettings<Rows extends Settings>(
  rows: Rows,
  environment: Readonly<Record<string, string | undefined>>,
): ValuesOf<Rows> {
  const problems: string[] = [];
  const values = Object.entries(rows).map(([key, { name, schema = optionalText, isSecret }]) => {
    const text = environment[name] || undefined;
    const { data, error } = schema.safeParse(text);
    if (error) problems.push(`${name} ${error.issues[0]?.message}${isSecret ? "" : `, got "${text}"`}`);
    return [key, data];
  });
  if (problems.length > 0) throw new Error(problems.join("\n"));
  return Object.fromEntries(values) as ValuesOf<Rows>;
}

export function wholeNumber(range: { min: number; max: number }): z.ZodType<number, string> {
  const message = `must be a whole number from ${range.min} to ${range.max}`;
  return z
    .string()
    .trim()
    .regex(/^\d+$/, message)
    .transform(Number)
    .refine((value) => value >= range.min && value <= range.max, message);
}

export function oneOf<const Value extends string>(values: readonly Value[]): z.ZodType<Value, Value> {
  return z.enum(values, `must be one of ${values.join(", ")}`);
}

export const yesOrNo: z.ZodType<boolean, string> = oneOf(["true", "false", "1", "0"]).transform(
  (text) => text === "true" || text === "1",
);

/** Values with commas between them. */
export const list: z.ZodType<string[], string> = z
  .string()
  .transform((text) => text.split(",").flatMap((part) => part.trim() || []));

/** The address of a server, without a slash at its end. */
export function httpUrl(example: string): z.ZodType<string, string> {
  return z
    .string()
    .regex(/^https?:\/\//, `must be an address such as ${example}`)
    .refine((text) => URL.canParse(text), `must be an address such as ${example}`)
    .transform((text) => text.replace(/\/+$/, ""));
}

export function json<Value>(schema: z.ZodType<Value>, example: string): z.ZodType<Value, string> {
  return z
    .string()
    .regex(
      example.startsWith("[") ? /^\s*\[[\s\S]*\]\s*$/ : /^\s*\{[\s\S]*\}\s*$/,
      `must be JSON such as ${example}`,
    )
    .transform((text, context) => {
      const { data, success } = schema.safeParse(parseJson(text));
      if (success) return data;
      context.addIssue(`must be JSON such as ${example}`);
      return z.NEVER;
    });
}

/** Text that `parse` takes, or refuses by an error whose message completes "VOCALHOST_… ". */
export function parsedBy<Value>(parse: (text: string) => Value): z.ZodType<Value, string> {
  return z.string().transform((text, context) => {
    try {
      return parse(text);
    } catch (error) {
      context.addIssue((error as Error).message);
      return z.NEVER;
    }
  });
}
