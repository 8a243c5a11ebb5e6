// Every fenced block of every page: what can be compiled is, what has a reader is read by it. Commands are run by
// `walk.long.ts`.
import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempDisposableSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { createRequire } from "node:module";
import { basename, dirname, join, resolve } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { parseEnv, promisify } from "node:util";
import { Dialled, StartRequest } from "@vocalhost/protocol";
import { parseProject } from "../../packages/cli/src/project/parse-project.ts";
import { readConfig } from "../../packages/control-plane/src/main/config.ts";
import { listPages, readBlocks, type Block } from "../../scripts/walk-docs/blocks.ts";
import { readXml } from "../../testing/read-xml.ts";
import { completed, GIVEN } from "./given.ts";

const REPOSITORY = fileURLToPath(new URL("../../", import.meta.url));
const pages = listPages(REPOSITORY);
const blocks = pages.flatMap((page) => readBlocks(REPOSITORY, page));
const schemas: Record<string, { parse(value: unknown): unknown }> = { Dialled, StartRequest };
const LANGUAGES = [
  "",
  "sh",
  "ts",
  "json",
  "toml",
  "ini",
  "xml",
  "html",
  "yaml",
  "caddyfile",
  "nginx",
  "nftables",
];
const MARKS = ["not-run", "schema", "carrier", "given"];
const run = promisify(execFile);

const where = ({ page, line }: Block): string => `${page}:${line}`;
const nameOf = (block: Block): string => where(block).replaceAll(/[/:]/g, "_");
const of = (...languages: string[]): Block[] => blocks.filter(({ language }) => languages.includes(language));

test("every block says what it is, in a language a test here reads", () => {
  for (const block of blocks) {
    assert.ok(LANGUAGES.includes(block.language), `${where(block)}: nothing reads ${block.language}`);
    for (const [mark, value] of Object.entries(block.marks))
      assert.ok(
        MARKS.includes(mark) && value.length > (mark === "not-run" ? 3 : 0),
        `${where(block)}: ${mark}="${value}"`,
      );
    if (block.marks["not-run"]) assert.equal(block.language, "sh", where(block));
  }
});

test("TypeScript compiles, fragments with what the text around them has introduced", async () => {
  const folder = join(REPOSITORY, "node_modules/.cache/doc-samples");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  writeFileSync(join(folder, "given.ts"), GIVEN);
  const foreign = of("ts").flatMap(({ marks }) =>
    (marks["given"] ?? "").split(/, */).filter((name) => /[@/]/.test(name)),
  );
  writeFileSync(join(folder, "foreign.d.ts"), foreign.map((name) => `declare module "${name}";\n`).join(""));
  for (const block of of("ts")) {
    const name = nameOf(block);
    const bot = of("ts").find(({ page, file }) => page === block.page && file === "bot.ts");
    const text = completed(block, REPOSITORY)
      .replaceAll(/(?<=[)>] )…/g, "{}") // what the reader puts there
      .replaceAll('"./bot.ts"', `"./${bot ? nameOf(bot) : "bot"}.ts"`); // as the page named it
    // As many lines before it as in the page, so that complaints name its lines.
    writeFileSync(join(folder, `${name}.ts`), `${"\n".repeat(block.line - 1)}${text}\nexport {};\n`);
  }
  const lib = ["es2024", "esnext.disposable", "dom", "dom.iterable"];
  // That package has a lock file of its own, for packages that no other may use.
  const paths = {
    "@livekit/agents": [typesOf("@livekit/agents", "packages/livekit-agents")],
    "@vocalhost/livekit-agents": [join(REPOSITORY, "packages/livekit-agents/src/index.ts")],
  };
  const compilerOptions = { lib, paths, noUnusedLocals: false, noImplicitReturns: false };
  const config = { extends: "../../../tsconfig.base.json", compilerOptions, include: ["*.ts"] };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
  const compiler = join(REPOSITORY, "node_modules/.bin/tsc");
  const { stdout } = await run(compiler, ["-p", folder], { cwd: folder }).catch(
    (error: unknown) => error as { stdout: string },
  );
  assert.equal(stdout, "");
});

test("HTML tells the talk button what it asks for, and sets properties it has", () => {
  const read = (name: string): string => readFileSync(join(REPOSITORY, "packages/web/embed", name), "utf8");
  const asked = /function put\(\{ ([\w, ]+) \}/.exec(read("embed.ts"))?.[1]?.split(", ") ?? [];
  assert.ok(asked.includes("agent"));
  const html = of("html");
  assert.ok(html.length > 0);
  for (const block of html) {
    for (const [, script = ""] of block.text.matchAll(/<script([^>]*)>/g)) {
      assert.match(script, /^ async src="https?:\/\/\S+\/embed\.js"/, where(block));
      for (const [, name = ""] of script.matchAll(/ data-(\w+)=/g)) assert.ok(asked.includes(name), name);
    }
    for (const [property] of block.text.matchAll(/--[\w-]+(?=:)/g))
      assert.ok(read("talk-button.ts").includes(`var(${property}`), property);
  }
});

test("JSON fits its schema", () => {
  for (const block of of("json")) {
    const schema = schemas[block.marks["schema"] ?? ""];
    assert.ok(
      schema,
      `${where(block)}: say which schema it fits: json schema="${Object.keys(schemas).join()}"`,
    );
    schema.parse(JSON.parse(block.text));
  }
});

test("vocalhost.toml is read as it is shown", () => {
  for (const block of of("toml")) {
    const project = parseProject(Buffer.from(block.text), "vocalhost.toml");
    assert.ok(project.agent_name, where(block));
    assert.ok([undefined, "this-machine"].includes(project.region), `${where(block)}: ${project.region}`);
  }
});

test("settings of the service are taken by it", () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), "vocalhost-settings-"));
  const secret = join(folder.path, "secret");
  writeFileSync(secret, "a-long-random-secret");
  const settings = of("sh", "ini").filter(isSettings);
  assert.ok(settings.length >= 3);
  for (const block of settings) {
    const text = block.text.replaceAll(/(?<=_FILE=)\S+/g, secret).replaceAll(/\s+#.*$/gm, "");
    const variables = parseEnv(text);
    const known = readFileSync(join(REPOSITORY, "docs/hosted/configuration.md"), "utf8");
    for (const name of Object.keys(variables))
      assert.ok(known.includes(`\`${name}\``), `${where(block)}: ${name}`);
    readConfig({ VOCALHOST_DATA_DIR: folder.path, ...variables });
  }
});

test("units are taken by systemd, and start what is there", (t) => {
  const units = of("ini").filter(({ file }) => file?.startsWith("/etc/systemd/"));
  assert.ok(units.length >= 3);
  using folder = mkdtempDisposableSync(join(tmpdir(), "vocalhost-units-"));
  for (const block of units) {
    const text = block.text
      .replaceAll("/opt/vocalhost/", REPOSITORY)
      .replaceAll("/opt/vocalhost", REPOSITORY)
      .replaceAll(/^(?:User|EnvironmentFile)=.*\n/gm, "");
    writeFileSync(join(folder.path, basename(block.file ?? "")), text);
    for (const [path] of text.matchAll(/packages\/\S+\.ts/g))
      assert.ok(existsSync(join(REPOSITORY, path)), path);
  }
  const files = units.map(({ file }) => join(folder.path, basename(file ?? "")));
  const { error, status, stderr } = spawnSync("systemd-analyze", ["verify", "--man=no", ...files], {
    encoding: "utf8",
  });
  if (error) return t.skip("no systemd-analyze here");
  const complaints = stderr.split("\n").filter((line) => line.includes(folder.path));
  assert.deepEqual([status, complaints], [0, []]);
});

test("settings of other programs are taken by them", (t) => {
  using folder = mkdtempDisposableSync(join(tmpdir(), "vocalhost-programs-"));
  const missing = new Set<string>();
  const check = (block: Block, program: string, words: string[]): void => {
    const { error, status, stdout, stderr } = spawnSync(program, words, { encoding: "utf8" });
    if (error) return void missing.add(program);
    assert.equal(status, 0, `${where(block)}: ${stdout}${stderr}`);
  };
  for (const block of of("caddyfile", "nginx", "nftables")) {
    const file = join(folder.path, "settings");
    switch (block.language) {
      case "caddyfile":
        writeFileSync(file, block.text);
        check(block, "caddy", ["adapt", "--adapter", "caddyfile", "--config", file]);
        break;
      case "nginx":
        writeFileSync(file, nginxAround(block.text, folder.path));
        check(block, "nginx", ["-t", "-q", "-c", file]);
        break;
      default:
        writeFileSync(file, block.text);
        check(block, "nft", ["--check", "--file", file]);
    }
  }
  for (const block of of("sh", "ini").filter(({ file }) => file?.endsWith("turnserver.conf"))) {
    const { stdout, stderr, error } = spawnSync("turnserver", ["--help"], { encoding: "utf8" });
    if (error) missing.add("turnserver");
    else
      for (const [, name = ""] of block.text.matchAll(/^([a-z-]+)(?:=|$)/gm))
        assert.ok(`${stdout}${stderr}`.includes(`--${name}`), `${where(block)}: ${name}`);
  }
  if (missing.size > 0) t.diagnostic(`not installed: ${[...missing].join(", ")}`);
});

test("XML is well formed, and YAML names files that are there", () => {
  for (const block of of("xml")) assert.equal(readXml(block.text).name, "Response", where(block));
  for (const block of of("yaml"))
    for (const [, file = ""] of block.text.matchAll(/rule_files: \[(\S+)\]/g))
      assert.ok(existsSync(join(REPOSITORY, "deploy/prometheus", file)), where(block));
});

test("links between pages lead somewhere", () => {
  for (const page of pages) {
    const text = readFileSync(join(REPOSITORY, page), "utf8").replaceAll(/^```[^]*?^```/gm, "");
    for (const [, target = ""] of text.matchAll(/\]\((?!https?:|\/)([^)\s]+)\)/g)) {
      const [path = "", anchor] = target.split("#");
      const file = path === "" ? join(REPOSITORY, page) : resolve(REPOSITORY, dirname(page), path);
      assert.ok(existsSync(file), `${page}: ${target}`);
      if (anchor !== undefined)
        assert.ok(anchorsOf(readFileSync(file, "utf8")).includes(anchor), `${page}: ${target}`);
    }
  }
});

test("what the page of troubles quotes is what the product says", () => {
  const sources = globSync("packages/*/{src,bin}/**/*.{ts,js}", { cwd: REPOSITORY })
    .filter((file) => !/test|\/dist\//.test(file))
    .map((file) => readFileSync(join(REPOSITORY, file), "utf8").replaceAll(/" \+\s*"|` \+\s*"|" \+\s*`/g, ""))
    .join("\n");
  const rows = readFileSync(join(REPOSITORY, "docs/troubleshooting.md"), "utf8").matchAll(
    /^\| `(.+?)` +\|/gm,
  );
  const quotes = [...rows].map(([, quote = ""]) => quote);
  assert.ok(quotes.length > 30);
  for (const quote of quotes) {
    const parts = quote.split("…").map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
    assert.match(sources, new RegExp(parts.join(String.raw`[^\n]{0,120}?`)), quote);
  }
});

/** Returns the types of a package that is installed for another one. */
function typesOf(name: string, folder: string): string {
  const entry = createRequire(join(REPOSITORY, folder, "package.json")).resolve(name);
  return entry.replace(/\.c?js$/, ".d.ts");
}

/** Lines of settings and comments alone; in a shell they would do nothing. */
function isSettings({ text }: Block): boolean {
  return text.split("\n").every((line) => /^(?:VOCALHOST_\w+=\S*(?:\s+#.*)?|#.*|)$/.test(line));
}

/** As the distribution's main file includes it, with a certificate that is there. */
function nginxAround(text: string, folder: string): string {
  const [certificate, key] = [join(folder, "certificate.pem"), join(folder, "key.pem")];
  const words = [
    "req",
    "-x509",
    "-newkey",
    "rsa:2048",
    "-nodes",
    "-days",
    "1",
    "-subj",
    "/CN=bots.example.com",
  ];
  spawnSync("openssl", [...words, "-keyout", key, "-out", certificate]);
  const own = text
    .replaceAll(/(?<=ssl_certificate )\S+(?=;)/g, certificate)
    .replaceAll(/(?<=ssl_certificate_key )\S+(?=;)/g, key);
  return `pid ${folder}/pid;\nerror_log stderr;\nevents {}\nhttp {\naccess_log off;\n${own}\n}\n`;
}

function anchorsOf(text: string): string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, title = ""]) =>
    title
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, "")
      .trim()
      .replaceAll(/\s/g, "-"),
  );
}
