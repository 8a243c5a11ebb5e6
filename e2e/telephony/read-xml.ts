import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

export interface Element {
  name: string;
  attributes: Record<string, string>;
  text: string;
  children: Element[];
}

interface ParsedElement {
  "#name": string;
  $?: Record<string, string>;
  _?: string;
  $$?: ParsedElement[];
}

// Comes with a carrier's package, which reads such answers with it.
const { parseString } = createRequire(fileURLToPath(import.meta.resolve("plivo")))("xml2js") as {
  parseString(
    text: string,
    options: object,
    done: (error: Error | null, result: ParsedElement) => void,
  ): void;
};

/** Reads with a real parser, in strict mode. */
export function readXml(text: string): Element {
  const options = { strict: true, explicitRoot: false, explicitChildren: true, preserveChildrenOrder: true };
  let result: Element | undefined;
  parseString(text, { ...options, explicitArray: true }, (error, parsed) => {
    if (error) throw error;
    result = fromParsed(parsed);
  });
  if (!result) throw new Error(`Not XML: ${text}`);
  return result;
}

/** The only child, which must have this name. */
export function onlyChild(parent: Element, name: string): Element {
  const [child, ...others] = parent.children;
  if (child?.name === name && others.length === 0) return child;
  throw new Error(`<${parent.name}> must hold <${name}> and nothing else`);
}

function fromParsed(parsed: ParsedElement): Element {
  const children = (parsed.$$ ?? []).filter((child) => child["#name"] !== "__text__");
  return {
    name: parsed["#name"],
    attributes: { ...parsed.$ },
    text: parsed._ ?? "",
    children: children.map(fromParsed),
  };
}
