/** Line numbers, from 1, of every key of a TOML text, by its path: `scaling.min_agents`. */
export type KeyLines = ReadonlyMap<string, number>;

/** Where keys are written. The text is known to be TOML; should it not be, the keys up to there are found. */
export function findKeyLines(text: string): KeyLines {
  const reader = new Reader(text);
  try {
    reader.readDocument();
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
  }
  return reader.lines;
}

class Unreadable extends Error {}

const MAX_DEPTH = 100;

class Reader {
  readonly lines = new Map<string, number>();
  readonly #text: string;
  #at = 0;
  /** Start of the last line that was counted, and its number. */
  #counted = { at: 0, line: 1 };

  constructor(text: string) {
    this.#text = text;
  }

  readDocument(): void {
    let table: string[] = [];
    for (;;) {
      this.#skip(/(?:[ \t\r\n\uFEFF]|#[^\n]*)*/y);
      if (this.#at >= this.#text.length) return;
      if (this.#text[this.#at] === "[") {
        const isArray = this.#text[this.#at + 1] === "[";
        this.#at += isArray ? 2 : 1;
        table = this.#readKey([]);
        this.#skip(isArray ? /\s*\]\]/y : /\s*\]/y);
      } else this.#readPair(table, 0);
    }
  }

  #readPair(table: string[], depth: number): void {
    const path = this.#readKey(table);
    this.#skip(/[ \t]*=[ \t]*/y);
    this.#readValue(path, depth);
  }

  /** `a`, `"a b"`, `a.b`: every part is noted where it first stands. */
  #readKey(table: string[]): string[] {
    const path = [...table];
    do {
      this.#skip(/[ \t]*/y);
      const start = this.#at;
      const part = this.#match(/[A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'/y);
      if (part === undefined) throw new Unreadable();
      path.push(unquoted(part));
      const name = path.join(".");
      if (!this.lines.has(name)) this.lines.set(name, this.#lineAt(start));
    } while (this.#match(/[ \t]*\./y) !== undefined);
    return path;
  }

  #readValue(path: string[], depth: number): void {
    if (depth > MAX_DEPTH) throw new Unreadable();
    const simple = this.#match(
      /"""(?:[^\\]|\\[^])*?"""+|'''[^]*?'''+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[^\s,#[\]{}"'][^,#[\]{}\n]*/y,
    );
    if (simple !== undefined) return;
    const open = this.#text[this.#at];
    if (open !== "[" && open !== "{") throw new Unreadable();
    this.#at += 1;
    for (let index = 0; ; index += 1) {
      this.#skip(/(?:[\s,]|#[^\n]*)*/y);
      if (this.#match(open === "[" ? /\]/y : /\}/y) !== undefined) return;
      if (open === "{") this.#readPair(path, depth + 1);
      else {
        const item = [...path, String(index)];
        this.lines.set(item.join("."), this.#lineAt(this.#at));
        this.#readValue(item, depth + 1);
      }
    }
  }

  #lineAt(at: number): number {
    for (let next = this.#nextLine(); next !== -1 && next <= at; next = this.#nextLine())
      this.#counted = { at: next, line: this.#counted.line + 1 };
    return this.#counted.line;
  }

  /** Keys are met in order, so lines are counted once. */
  #nextLine(): number {
    const end = this.#text.indexOf("\n", this.#counted.at);
    return end === -1 ? -1 : end + 1;
  }

  #skip(pattern: RegExp): void {
    if (this.#match(pattern) === undefined) throw new Unreadable();
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    this.#at += found?.length ?? 0;
    return found;
  }
}

function unquoted(part: string): string {
  if (part.startsWith("'")) return part.slice(1, -1);
  if (!part.startsWith('"')) return part;
  try {
    return JSON.parse(part) as string; // the same escapes, except for a few rare ones
  } catch {
    return part.slice(1, -1);
  }
}
