// The service serves the site under a policy without inline code or inline styles. VitePress writes a few of both.
import { createHash } from "node:crypto";
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

interface HastElement {
  properties: Record<string, unknown>;
}

const styles = new Map<string, string>();

/** Returns a transformer for Shiki that gives words a class where it would colour them by a style of their own. */
export function classesForStyles() {
  const toClass = (element: HastElement): void => {
    const { style } = element.properties;
    if (typeof style !== "string" || style === "") return;
    delete element.properties["style"];
    const before = element.properties["class"];
    const classes = [
      ...(Array.isArray(before) ? before : typeof before === "string" ? [before] : []),
      classOf(style),
    ];
    element.properties["class"] = classes.join(" ");
  };
  return { name: "classes-for-styles", enforce: "post", span: toClass, pre: toClass };
}

function classOf(style: string): string {
  const name = `s${createHash("sha256").update(style).digest("hex").slice(0, 6)}`;
  styles.set(name, style);
  return name;
}

/** Moves inline scripts of the built pages into files, and adds the styles of `classesForStyles`. */
export function applyContentPolicy(site: string, base: string): void {
  const rules = [...styles].map(([name, style]) => `.${name}{${style}}`).join("\n");
  const styleFile = `assets/code.${hashOf(rules)}.css`;
  writeFileSync(join(site, styleFile), rules);
  const link = `<link rel="stylesheet" href="${base}${styleFile}">`;
  for (const name of globSync("**/*.html", { cwd: site })) {
    const html = readFileSync(join(site, name), "utf8")
      .replaceAll(/(<[a-z][^>]*?) style="[^"]*"/g, "$1") // Vue sets them again
      .replaceAll(/<script((?: id="[^"]*")?)>([^]*?)<\/script>/g, (_, id: string, code: string) => {
        const file = `assets/inline.${hashOf(code)}.js`;
        writeFileSync(join(site, file), code);
        return `<script${id} src="${base}${file}"></script>`;
      })
      .replace("</head>", `${link}</head>`);
    writeFileSync(join(site, name), html);
  }
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 12);
}
