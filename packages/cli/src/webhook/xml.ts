/** One element of a carrier's XML. */
export interface XmlElement {
  name: string;
  attributes: Readonly<Record<string, string>>;
  children: readonly XmlElement[];
  /** All text directly inside, without the white space around it. */
  text: string;
}

export class XmlError extends Error {
  override readonly name = "XmlError";
}

/** Reads the XML carriers take: elements, attributes, text, comments. Throws an XmlError on everything else. */
export function parseXml(source: string): XmlElement {
  const reader = new Reader(source.replace(/^\uFEFF/, ""));
  reader.skipDeclaration();
  reader.skipRemarks();
  const root = reader.readElement(0);
  reader.skipRemarks();
  if (!reader.isAtEnd) reader.fail("there is something after the last element");
  return root;
}

const MAX_DEPTH = 20; // no carrier's instructions are nested deeper
const NAME = /[A-Za-z_][\w.:-]*/y;
const SPACE = /[ \t\r\n]*/y;
const ENTITIES = new Map([
  ["amp", "&"],
  ["lt", "<"],
  ["gt", ">"],
  ["quot", '"'],
  ["apos", "'"],
]);

class Reader {
  readonly #source: string;
  #at = 0;

  constructor(source: string) {
    this.#source = source;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#source.length;
  }

  fail(why: string): never {
    const line = this.#source.slice(0, this.#at).split("\n").length;
    throw new XmlError(`line ${line}: ${why}`);
  }

  skipDeclaration(): void {
    if (!this.#source.startsWith("<?xml ")) return;
    this.#at = this.#indexAfter("?>", "the XML declaration does not end");
  }

  /** White space and comments. */
  skipRemarks(): void {
    for (;;) {
      this.#match(SPACE);
      if (!this.#source.startsWith("<!--", this.#at)) return;
      this.#at = this.#indexAfter("-->", "a comment does not end");
    }
  }

  readElement(depth: number): XmlElement {
    if (depth > MAX_DEPTH) this.fail("elements are nested too deeply");
    this.#expect("<", "an element is missing");
    const name = this.#match(NAME) || this.fail("an element has no name");
    const attributes = this.#readAttributes();
    if (this.#take("/>")) return { name, attributes, children: [], text: "" };
    this.#expect(">", `the tag of <${name}> does not end`);
    return { name, attributes, ...this.#readContent(name, depth) };
  }

  #readContent(name: string, depth: number): Pick<XmlElement, "children" | "text"> {
    const children: XmlElement[] = [];
    let text = "";
    for (;;) {
      const next = this.#source.indexOf("<", this.#at);
      if (next === -1) this.fail(`<${name}> does not end`);
      text += this.#decode(this.#source.slice(this.#at, next));
      this.#at = next;
      if (this.#source.startsWith("<!--", next)) this.skipRemarks();
      else if (this.#take("</")) break;
      else children.push(this.readElement(depth + 1));
    }
    if (this.#match(NAME) !== name) this.fail(`<${name}> is not the element that should end here`);
    this.#match(SPACE);
    this.#expect(">", `the end of <${name}> does not end`);
    return { children, text: text.trim() };
  }

  #readAttributes(): Record<string, string> {
    const attributes = new Map<string, string>();
    for (;;) {
      const space = this.#match(SPACE);
      const name = this.#match(NAME);
      if (!name) return Object.fromEntries(attributes);
      if (!space) this.fail(`white space is missing before the attribute ${name}`);
      if (attributes.has(name)) this.fail(`the attribute ${name} appears twice`);
      this.#match(SPACE);
      this.#expect("=", `the attribute ${name} has no value`);
      this.#match(SPACE);
      attributes.set(name, this.#readQuoted(name));
    }
  }

  #readQuoted(name: string): string {
    const quote = this.#source[this.#at];
    if (quote !== '"' && quote !== "'") this.fail(`the value of ${name} has no quotes`);
    this.#at += 1;
    const end = this.#source.indexOf(quote, this.#at);
    if (end === -1) this.fail(`the value of ${name} does not end`);
    const raw = this.#source.slice(this.#at, end);
    if (raw.includes("<")) this.fail(`the value of ${name} has a "<" that is not written as &lt;`);
    this.#at = end + 1;
    return this.#decode(raw);
  }

  #decode(raw: string): string {
    return raw.replace(/&([^;&\s]*;?)/g, (whole, body: string) => {
      const name = body.endsWith(";") ? body.slice(0, -1) : "";
      const code = /^#(?:x([0-9a-f]{1,6})|(\d{1,7}))$/i.exec(name);
      const point = code ? Number.parseInt(code[1] ?? code[2] ?? "", code[1] ? 16 : 10) : undefined;
      if (point !== undefined && point > 0 && point <= 0x10_ffff) return String.fromCodePoint(point);
      return ENTITIES.get(name) ?? this.fail(`"${whole}" is not an entity; write a bare & as &amp;`);
    });
  }

  #match(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#source)?.[0] ?? "";
    this.#at += found.length;
    return found;
  }

  #take(text: string): boolean {
    const isThere = this.#source.startsWith(text, this.#at);
    if (isThere) this.#at += text.length;
    return isThere;
  }

  #expect(text: string, otherwise: string): void {
    if (!this.#take(text)) this.fail(otherwise);
  }

  #indexAfter(text: string, otherwise: string): number {
    const found = this.#source.indexOf(text, this.#at);
    return found === -1 ? this.fail(otherwise) : found + text.length;
  }
}
