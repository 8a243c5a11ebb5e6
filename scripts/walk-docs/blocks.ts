import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** A fenced block of a page. */
export interface Block {
  /** Path of the page, from the repository's root. */
  page: string;
  /** Number of its first line in the page. */
  line: number;
  language: string;
  /** The text behind the language: `not-run="why"`. */
  marks: Record<string, string>;
  text: string;
  /** Named by a comment in its first line: `// bot.ts`, `# /etc/caddy/Caddyfile`. */
  file: string | undefined;
}

const FENCE = /^( *)(`{3,})(.*)$/;
const MARK = /([a-z-]+)="([^"]*)"/g;
const NAMED = /^(?:\/\/|#) ((?:\/[\w.@-]+)+|[\w-]+(?:\.test)?\.(?:ts|toml))$/;

/** Pages for users and contributors; those of decisions and of training are history. */
export function listPages(repository: string): string[] {
  const places = ["*.md", "{docs,images,deploy}/**/*.md", "{packages,examples}/*/*.md", "bench/*.md"];
  const pages = globSync(places, { cwd: repository });
  return pages.filter((page) => !page.startsWith("docs/decisions/")).sort(inReadingOrder);
}

/** Earlier pages prepare later ones: the README starts the service, projects are made before operating. */
function inReadingOrder(one: string, other: string): number {
  const place = (page: string): number =>
    [/^README/, /^docs\/cli/, /^docs/].findIndex((kind) => kind.test(page));
  return ((place(one) + 4) % 4) - ((place(other) + 4) % 4) || one.localeCompare(other);
}

export function readBlocks(repository: string, page: string): Block[] {
  const blocks: Block[] = [];
  let open: { fence: string; indent: string; block: Block; lines: string[] } | undefined;
  for (const [index, line] of readFileSync(join(repository, page), "utf8").split("\n").entries()) {
    const [, indent = "", fence = "", info = ""] = FENCE.exec(line) ?? [];
    if (open) {
      if (fence.startsWith(open.fence) && info.trim() === "") {
        const text = open.lines.join("\n");
        blocks.push({ ...open.block, text, file: NAMED.exec(open.lines[0] ?? "")?.[1] });
        open = undefined;
      } else open.lines.push(line.startsWith(open.indent) ? line.slice(open.indent.length) : line);
    } else if (fence) {
      const { language, marks } = readInfo(info.trim(), `${page}:${index + 1}`);
      const block = { page, line: index + 2, language, marks, text: "", file: undefined };
      open = { fence, indent, block, lines: [] };
    }
  }
  if (open) throw new Error(`${page}: the block of line ${open.block.line} is never closed`);
  return blocks;
}

function readInfo(info: string, where: string): Pick<Block, "language" | "marks"> {
  const [language = "", ...rest] = info.split(" ");
  const text = rest.join(" ");
  const left = text.replace(MARK, "").trim();
  if (left !== "") throw new Error(`${where}: ${left} is no mark; write not-run="why"`);
  return {
    language,
    marks: Object.fromEntries([...text.matchAll(MARK)].map(([, name, value]) => [name, value])),
  };
}
