import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { templates, type Template } from "./options.ts";
import { PAGE_PACKAGES, projectFiles, toAgentName } from "./project-files.ts";
import { version } from "./version.ts";

const REPOSITORY = new URL("../../../", import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, REPOSITORY), "utf8");
const make = (template: Template): Map<string, string> =>
  projectFiles({ name: "My Bot", template, packageManager: "npm", sources: {} });

const PAGE_FILES = [
  "page/app.tsx",
  "page/bot-address.ts",
  "page/index.html",
  "page/main.tsx",
  "page/styles.css",
  "page/transcript.tsx",
  "page/tsconfig.json",
  "vite.config.ts",
];

test("every template has all files, and no word is left open", () => {
  for (const template of templates) {
    const files = make(template);
    const ofPage = template === "web" ? PAGE_FILES : [];
    assert.deepEqual([...files.keys()].filter((name) => !ofPage.includes(name)).sort(), [
      ".dockerignore",
      ".env.example",
      ".gitignore",
      "AGENTS.md",
      "Dockerfile",
      "README.md",
      "bot.test.ts",
      "bot.ts",
      "package.json",
      "tsconfig.json",
      "vocalhost.toml",
    ]);
    for (const name of ofPage) assert.ok(files.has(name), name);
    for (const [name, text] of files) assert.doesNotMatch(text, /\{\{[A-Z]/, name);
  }
});

test("bots are the examples to the letter", () => {
  for (const template of templates)
    assert.equal(make(template).get("bot.ts"), read(`examples/${template}/bot.ts`));
});

test("a page's own rules come behind those of all projects", () => {
  const files = make("web");
  for (const [name, ofAll, ofPage] of [
    ["AGENTS.md", "## Rules", "## The page"],
    [".gitignore", ".env", "dist/"],
    [".dockerignore", "node_modules", "page\n"],
  ] as const) {
    const text = files.get(name) ?? "";
    assert.ok(text.indexOf(ofAll) >= 0 && text.indexOf(ofAll) < text.indexOf(ofPage), name);
    assert.ok(!make("parrot").get(name)?.includes(ofPage), name);
  }
});

test("a page is made of what our tests use, and a bot is deployed without it", () => {
  const locked = ["package-lock.json", "e2e/realtime/react-clients/package-lock.json"].map(
    (file) => (JSON.parse(read(file)) as { packages: Record<string, { version: string }> }).packages,
  );
  const packages = { ...locked[1], ...locked[0] };
  const installed = Object.keys(PAGE_PACKAGES).map((name) => packages[`node_modules/${name}`]?.version);
  assert.deepEqual(Object.values(PAGE_PACKAGES), installed);
  const { dependencies } = JSON.parse(make("web").get("package.json") ?? "") as { dependencies: object };
  assert.deepEqual(Object.keys(dependencies), ["vocalhost"]);
});

test("the packages are of this version, or from where they were asked to be", () => {
  for (const name of ["create-vocalhost", "sdk", "cli"])
    assert.equal((JSON.parse(read(`packages/${name}/package.json`)) as { version: string }).version, version);
  const { dependencies, devDependencies } = JSON.parse(make("parrot").get("package.json") ?? "") as {
    dependencies: Record<string, string>;
    devDependencies: Record<string, string>;
  };
  assert.deepEqual(dependencies, { vocalhost: `^${version}` });
  assert.equal(devDependencies["@vocalhost/cli"], `^${version}`);
  const files = projectFiles({
    name: "x",
    template: "parrot",
    packageManager: "npm",
    sources: { vocalhost: "file:a.tgz", "@vocalhost/audio": "file:b.tgz" },
  });
  const made = JSON.parse(files.get("package.json") ?? "") as Record<string, unknown>;
  assert.deepEqual(
    [made["dependencies"], made["overrides"]],
    [{ vocalhost: "file:a.tgz" }, { "@vocalhost/audio": "file:b.tgz" }],
  );
});

test("folders give names the service takes", () => {
  const table: [string, string][] = [
    ["my-bot", "my-bot"],
    ["My Bot!", "my-bot"],
    ["x", "bot-x"],
    ["日本", "bot"],
    ["start-here", "bot-start-here"],
    [`${"a".repeat(39)}-b`, "a".repeat(39)],
    ["--", "bot"],
  ];
  for (const [folder, name] of table) {
    assert.equal(toAgentName(folder), name);
    assert.match(name, /^(?!start)[a-z0-9]([-a-z0-9]*[a-z0-9])$/);
  }
});
