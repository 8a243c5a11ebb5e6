import { spawnSync } from "node:child_process";
import { globSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { write } from "./stage-pages.ts";

const HERE = import.meta.dirname;

/** Has TypeDoc write a page for each entry of the SDK's package, with the TypeScript that it brings along. */
export function writeSdkReference(repository: string, pages: string): void {
  const sdk = join(repository, "packages/sdk");
  const manifest = JSON.parse(readFileSync(join(sdk, "package.json"), "utf8")) as {
    exports: Record<string, { "@vocalhost/source"?: string }>;
  };
  const entryPoints = Object.entries(manifest.exports).flatMap(([name, { "@vocalhost/source": source }]) =>
    source === undefined || name === "./instance" ? [] : [join(sdk, source)],
  );
  const out = join(pages, "reference/sdk");
  const options = {
    entryPoints,
    tsconfig: join(HERE, "tsconfig.json"),
    plugin: ["typedoc-plugin-markdown"],
    out,
    router: "module",
    readme: "none",
    name: "SDK",
    skipErrorChecking: true, // `npm run types` looks for mistakes, with the TypeScript of the sources
    disableSources: true,
    excludePrivate: true,
    excludeInternal: true,
    excludeExternals: true,
    hidePageHeader: true,
    hideBreadcrumbs: true,
    hideGroupHeadings: true,
    useCodeBlocks: true,
    useHTMLEncodedBrackets: true,
    sanitizeComments: true,
    parametersFormat: "table",
    interfacePropertiesFormat: "table",
    classPropertiesFormat: "table",
    typeDeclarationFormat: "table",
    propertyMembersFormat: "table",
    logLevel: "Error",
  };
  const file = join(pages, "../typedoc.json");
  writeFileSync(file, JSON.stringify(options));
  const program = join(HERE, "node_modules/typedoc/bin/typedoc");
  const { status } = spawnSync(process.execPath, [program, "--options", file], {
    cwd: HERE,
    stdio: "inherit",
  });
  if (status !== 0) throw new Error("TypeDoc failed");
  renameModules(out);
}

/** TypeDoc names modules by their files; readers know them by the names that they import. */
const RENAMED: Record<string, string> = { index: "vocalhost", "stand-ins": "testing" };

function renameModules(out: string): void {
  const modules = globSync("**/*.md", { cwd: out }).map((page) => page.replace(/\.md$/, ""));
  rmSync(join(out, "README.md"));
  const links: string[] = [];
  for (const module of modules.filter((each) => each !== "README").toSorted()) {
    const path = RENAMED[module] ?? module;
    const name = module === "index" ? "vocalhost" : `vocalhost/${path}`;
    const text = readFileSync(join(out, `${module}.md`), "utf8")
      .replace(/^# .*$/m, `# ${name}`)
      .replaceAll(
        /(\]\((?:\.\.\/)?)(index|stand-ins)(?=\.md)/g,
        (_, open: string, from: string) => `${open}${RENAMED[from]}`,
      );
    rmSync(join(out, `${module}.md`));
    write(out, path, `---\noutline: 2\n---\n\n${text}`);
    links.push(`- [${name}](./${path}.md)`);
  }
  write(
    out,
    "index",
    `# SDK\n\nGenerated from the types of the package. Each page is one import:\n\n${links.join("\n")}\n`,
  );
}
