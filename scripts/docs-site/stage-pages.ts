import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { addressOf, SECTIONS } from "./navigation.ts";

const SOURCES = "https://github.com/vocalhost/vocalhost/blob/main";

/** Copies the repository's pages into `folder` and turns their links into those of the site. */
export function stagePages(repository: string, folder: string): void {
  const listed = SECTIONS.flatMap(({ pages }) => pages.flatMap(({ from }) => from ?? []));
  const files = [...listed, ...globSync("docs/decisions/*.md", { cwd: repository }).toSorted()];
  const unlisted = globSync("docs/**/*.md", { cwd: repository }).filter((file) => !files.includes(file));
  if (unlisted.length > 0) throw new Error(`scripts/docs-site/navigation.ts lacks ${unlisted.join(", ")}`);
  for (const file of files) {
    const text = readFileSync(join(repository, file), "utf8");
    write(folder, addressOf(file), toSitePage(text, file, { repository, files }));
  }
  write(folder, "index", homePage());
}

export function write(folder: string, path: string, text: string): void {
  const file = join(folder, `${path}.md`);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

interface SiteFiles {
  repository: string;
  files: string[];
}

function toSitePage(text: string, file: string, { repository, files }: SiteFiles): string {
  const parts = text.split(/(^ *`{3,}[^]*?^ *`{3,}$)/m);
  const own = dirname(addressOf(file));
  return parts
    .map((part, at) => {
      // Marks after a fence's language are for the tests: `sh not-run="root"`.
      if (at % 2 === 1) return part.replace(/^( *`{3,}\w*).*/, "$1");
      return part.replaceAll(
        /(\]\()(?!https?:|\/|#|mailto:)([^)\s#]+)(#[^)\s]*)?\)/g,
        (_, open, target, anchor = "") => {
          const found = relative(repository, resolve(repository, dirname(file), target));
          const page = files.find((each) => each === found || each === join(found, "README.md"));
          if (page) return `${open}${linkTo(own, addressOf(page))}${anchor})`;
          if (!existsSync(join(repository, found))) throw new Error(`${file}: ${target} is not there`);
          return `${open}${SOURCES}/${found}${anchor})`;
        },
      );
    })
    .join("");
}

function linkTo(from: string, path: string): string {
  const link = relative(from, path);
  return link.startsWith(".") ? `${link}.md` : `./${link}.md`;
}

/** Returns the site's first page: one sentence, and the sections by task. */
function homePage(): string {
  const features = SECTIONS.map(
    ({ title, about, pages: [first] }) =>
      `  - title: ${title}\n    details: "${about}"\n    link: /${first?.path.replace(/(?:^|(?<=\/))index$/, "") ?? ""}`,
  );
  return `---
layout: home
title: Vocalhost
hero:
  name: Vocalhost
  text: A home for voice agents on your own machines
  tagline: Write one async function in TypeScript. Talk to it in the browser, call it by phone, deploy the same file.
  actions:
    - theme: brand
      text: Get started
      link: /start
    - theme: alt
      text: Build a bot
      link: /bots
features:
${features.join("\n")}
---
`;
}
