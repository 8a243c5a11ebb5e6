// `npm run docs`: the documentation site, from the pages of the repository and from the code.
import { createHash } from "node:crypto";
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { installSuites } from "../suite-packages.ts";
import { cliReference } from "./cli-reference.ts";
import { restReference } from "./rest-reference.ts";
import { writeSdkReference } from "./sdk-reference.ts";
import { stagePages, write } from "./stage-pages.ts";

const repository = fileURLToPath(new URL("../../", import.meta.url));
const here = import.meta.dirname;
const output = join(repository, "packages/control-plane/docs-page");
const stamp = join(output, ".made-from");

const hash = hashInputs();
if (existsSync(stamp) && readFileSync(stamp, "utf8") === hash) process.exit(0);
const startedMs = performance.now();
await installSuites(["scripts/docs-site/"], { isLong: true });
const pages = join(here, "dist/pages");
rmSync(join(here, "dist"), { recursive: true, force: true });
mkdirSync(pages, { recursive: true });
stagePages(repository, pages);
write(pages, "reference/commands", cliReference());
write(pages, "reference/rest", await restReference());
writeSdkReference(repository, pages);
const vitepress = (await import(join(here, "node_modules/vitepress/dist/node/index.js"))) as {
  build(root: string): Promise<void>;
};
await vitepress.build(here);
const site = join(here, "dist/site");
rmSync(output, { recursive: true, force: true });
cpSync(site, output, { recursive: true });
writeFileSync(stamp, hash);
console.log(`Documentation built in ${((performance.now() - startedMs) / 1000).toFixed(0)} s`);

function hashInputs(): string {
  const inputs = [
    "{*,docs/**/*,bench/*}.md",
    "packages/{sdk,audio,carriers,protocol,cli,control-plane}/src/**/*.ts",
    "scripts/docs-site/{*,.vitepress/**/*}.{ts,css,json}",
  ];
  const sum = createHash("sha256");
  for (const name of globSync(inputs, { cwd: repository }).toSorted())
    sum.update(name).update(readFileSync(join(repository, name)));
  return sum.digest("hex");
}
