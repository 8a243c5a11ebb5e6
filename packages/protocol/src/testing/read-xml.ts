/** An element with its attributes and contents, entities resolved. */
export interface XmlElement {
  name: string;
  attributes: Record<string, string>;
  children: XmlElement[];
  text: string;
}

const NAME = "[A-Za-z][A-Za-z0-9_]*";
const ALLOWED = /^[\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]*$/u;
const ENTITIES: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

/** Reads a document of elements, attributes and text. Throws on everything a strict parser would refuse. */
export function readXml(document: string): XmlElement {
  if (!ALLOWED.test(document)) throw new Error("A character that XML forbids");
  const declaration = /^<\?xml version="1\.0" encoding="UTF-8"\?>\n/.exec(document);
  if (!declaration) throw new Error("No declaration");
  const rest = { text: document.slice(declaration[0].length) };
  const root = readElement(rest);
  if (rest.text.trim() !== "") throw new Error(`Something after the root: ${rest.text}`);
  return root;
}

function readElement(rest: { text: string }): XmlElement {
  const [, name = "", attributes = "", closed] = take(
    rest,
    new RegExp(`^<(${NAME})((?:\\s+${NAME}="[^"<]*")*)\\s*(/?)>`),
  );
  const element: XmlElement = { name, attributes: readAttributes(attributes), children: [], text: "" };
  if (closed) return element;
  for (;;) {
    element.text += resolve(take(rest, /^[^<]*/)[0]);
    if (rest.text.startsWith("</")) break;
    element.children.push(readElement(rest));
  }
  take(rest, new RegExp(`^</${name}>`));
  return element;
}

function readAttributes(text: string): Record<string, string> {
  const found = [...text.matchAll(new RegExp(`(${NAME})="([^"]*)"`, "g"))];
  const attributes = Object.fromEntries(found.map(([, name = "", value = ""]) => [name, resolve(value)]));
  if (Object.keys(attributes).length !== found.length) throw new Error(`An attribute twice: ${text}`);
  return attributes;
}

function resolve(text: string): string {
  if (text.includes("]]>")) throw new Error("]]> in text");
  return text.replace(/&([^;]*);?/g, (whole, name: string) => {
    const character = whole.endsWith(";") ? ENTITIES[name] : undefined;
    if (character === undefined) throw new Error(`A bare or unknown entity: ${whole}`);
    return character;
  });
}

function take(rest: { text: string }, pattern: RegExp): RegExpExecArray {
  const match = pattern.exec(rest.text);
  if (!match) throw new Error(`Not well-formed at: ${rest.text.slice(0, 60)}`);
  rest.text = rest.text.slice(match[0].length);
  return match;
}
