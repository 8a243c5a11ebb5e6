import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { projectFiles, toAgentName } from "./project-files.ts";
import { version } from "./version.ts";
import { templates, type Template } from "./options.ts";

const REPOSITORY = new URL("../../../", import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, REPOSITORY), "utf8");
const make = (template: Template): Map<string, string> =>
  projectFiles({ name: "My Bot", template, packageManager: "npm", sources: {} });

test("every template has all files, and no word is left open", () => {
  for (const template of templates) {
    const files = make(template);
    assert.deepEqual([...files.keys()].sort(), [
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
    for (const [name, text] of files) assert.doesNotMatch(text, /\{\{[A-Z]/, name);
  }
});

test("bots are the examples to the letter", () => {
  for (const template of templates)
    assert.equal(make(template).get("bot.ts"), read(`examples/${template}/bot.ts`));
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
