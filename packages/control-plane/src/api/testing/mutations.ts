import type { JsonSchema } from "../docs-page.ts";

/** Returns a value that matches the schema. */
export function sample(schema: JsonSchema): unknown {
  if (schema.const !== undefined) return schema.const;
  if (schema.default !== undefined) return schema.default;
  if (schema.enum) return schema.enum[0];
  const choice = (schema.anyOf ?? schema.oneOf)?.find(({ type }) => type !== "null");
  if (choice) return sample(choice);
  switch (schema.type) {
    case "object":
      return Object.fromEntries(
        Object.entries(schema.properties ?? {}).map(([name, value]) => [name, sample(value)]),
      );
    case "array":
      return [sample(schema.items ?? {})];
    case "string":
      return schema.format === "uuid" ? crypto.randomUUID() : sampleText(schema);
    case "integer":
    case "number":
      return schema.minimum ?? 1;
    case "boolean":
      return true;
    default:
      return {};
  }
}

/** Yields the sample with one error or boundary value, in every place. */
export function* mutations(
  schema: JsonSchema,
  good = sample(schema),
): Generator<{ what: string; value: unknown }> {
  yield { what: "valid", value: good };
  for (const odd of ODD_VALUES) yield { what: `all ${short(odd)}`, value: odd };
  if (typeof good !== "object" || good === null) return;
  for (const name of POLLUTION)
    yield { what: `extra ${name}`, value: raw({ ...good }, name, { polluted: true }) };
  yield { what: "extra", value: { ...good, somethingElse: 1 } };
  yield { what: "nested", value: { ...good, nested: nest(60) } };
  for (const [name, inner] of Object.entries(schema.properties ?? {})) {
    const { [name]: _left, ...without } = good as Record<string, unknown>;
    yield { what: `without ${name}`, value: without };
    for (const odd of [...ODD_VALUES, ...boundsOf(inner), nest(60)])
      yield { what: `${name} ${short(odd)}`, value: { ...good, [name]: odd } };
    const deeper = (inner.anyOf ?? [inner]).find(({ properties }) => properties);
    if (!deeper) continue;
    for (const { what, value } of mutations(deeper))
      yield { what: `${name}.${what}`, value: { ...good, [name]: value } };
  }
}

export const ODD_VALUES: unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  2 ** 53,
  1e300,
  "",
  " ",
  "x",
  "x".repeat(10_000),
  "a\u0000b",
  "\ud800",
  "../../etc/passwd",
  "'; drop table agents; --",
  "<script>",
  "{{7*7}}",
  [],
  [[]],
  {},
  { $gt: "" },
];

export const POLLUTION = ["__proto__", "constructor", "prototype", "toString", "hasOwnProperty"];

function boundsOf(schema: JsonSchema): unknown[] {
  const found: unknown[] = [];
  for (const { minimum, maximum, minLength, maxLength } of schema.anyOf ?? [schema]) {
    if (minimum !== undefined) found.push(minimum - 1, minimum);
    if (maximum !== undefined) found.push(maximum, maximum + 1);
    if (minLength !== undefined) found.push("a".repeat(Math.max(0, minLength - 1)), "a".repeat(minLength));
    if (maxLength !== undefined) found.push("a".repeat(maxLength), "a".repeat(maxLength + 1));
  }
  return found;
}

/** Defines an own property, which plain assignment would not do for `__proto__`. */
function raw(target: object, name: string, value: unknown): object {
  return Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true });
}

function nest(depth: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < depth; level += 1) value = [value];
  return value;
}

function sampleText({ pattern, minLength = 0 }: JsonSchema): string {
  for (const text of ["fuzzed-name", "a/b:c", "2026-01", "A"])
    if (text.length >= minLength && (pattern === undefined || new RegExp(pattern).test(text))) return text;
  return "fuzzed";
}

function short(value: unknown): string {
  return (JSON.stringify(value) ?? "undefined").slice(0, 30);
}
