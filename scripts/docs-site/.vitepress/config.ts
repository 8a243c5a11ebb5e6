import { SECTIONS } from "../navigation.ts";
import { anchorOf } from "../anchors.ts";
import { applyContentPolicy, classesForStyles } from "../content-policy.ts";

const sidebar = SECTIONS.map(({ title, pages }) => ({
  text: title,
  items: pages.map(({ title: text, path }) => ({ text, link: `/${path.replace(/(?:^|\/)index$/, "/")}` })),
}));

interface MarkdownRenderer {
  renderer: { rules: Record<string, ((tokens: { content: string }[], at: number) => string) | undefined> };
  utils: { escapeHtml(text: string): string };
}

/** Vue would take two braces in a page's text for an expression. */
function leaveBraces({ renderer, utils }: MarkdownRenderer): void {
  const escaped = (text = ""): string => utils.escapeHtml(text).replaceAll("{{", "&#123;&#123;");
  renderer.rules["text"] = (tokens, at) => escaped(tokens[at]?.content);
  renderer.rules["code_inline"] = (tokens, at) => `<code>${escaped(tokens[at]?.content)}</code>`;
}

// oxlint-disable-next-line import/no-default-export -- VitePress takes nothing else
export default {
  title: "Vocalhost",
  description: "A home for voice agents on your own machines",
  base: "/docs/",
  srcDir: "dist/pages",
  outDir: "dist/site",
  cacheDir: "dist/cache",
  cleanUrls: true,
  appearance: { disableTransition: false }, // would need an inline style
  lastUpdated: false,
  ignoreDeadLinks: "localhostLinks", // all others fail the build
  metaChunk: true,
  markdown: {
    anchor: { slugify: anchorOf },
    theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
    codeTransformers: [classesForStyles()],
    config: leaveBraces,
    languageAlias: { caddyfile: "nginx", nftables: "sh" },
  },
  buildEnd: ({ outDir }: { outDir: string }) => applyContentPolicy(outDir, "/docs/"),
  themeConfig: {
    search: { provider: "local" },
    outline: { level: [2, 3] },
    sidebar,
    nav: SECTIONS.map(({ title, pages: [first] }) => ({
      text: title,
      link: `/${(first?.path ?? "").replace(/(?:^|\/)index$/, "/")}`,
      activeMatch: "^$",
    })),
    docFooter: { prev: "Previous", next: "Next" },
  },
  vite: { build: { assetsInlineLimit: 0, chunkSizeWarningLimit: 5000 }, logLevel: "error" },
};
