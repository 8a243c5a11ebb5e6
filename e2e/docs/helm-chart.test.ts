// What of the Helm chart can be checked without Helm: it says the same as the page and the packages.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";

const REPOSITORY = resolve(import.meta.dirname, "../..");
const CHART = join(REPOSITORY, "deploy/helm/vocalhost");
const read = (...path: string[]): string => readFileSync(join(...path), "utf8");

test("the chart gives the service the rights that the page names, and tests have", () => {
  const rulesIn = (text: string): string[] =>
    [...text.matchAll(/- (\{ apiGroups: .*\})$/gm)].map(([, rule = ""]) => rule);
  const rules = rulesIn(read(CHART, "templates/service-account.yaml"));
  assert.ok(rules.length > 0);
  assert.deepEqual(rules, rulesIn(read(REPOSITORY, "docs/hosted/kubernetes.md")));
});

test("every value of the chart has a schema, and the other way round", () => {
  const { properties } = JSON.parse(read(CHART, "values.schema.json")) as { properties: object };
  const values = [...read(CHART, "values.yaml").matchAll(/^(\w+):/gm)].map(([, name = ""]) => name);
  assert.deepEqual(new Set(values), new Set(Object.keys(properties).filter((name) => name !== "global")));
});

test("the chart has the product's version", () => {
  const { version } = JSON.parse(read(REPOSITORY, "packages/control-plane/package.json")) as {
    version: string;
  };
  assert.match(read(CHART, "Chart.yaml"), new RegExp(`^appVersion: ${version}$`, "m"));
});

test("every setting that the chart makes is one of the service", () => {
  const settings = read(REPOSITORY, "docs/hosted/configuration.md");
  for (const [name] of read(CHART, "templates/stateful-set.yaml").matchAll(/VOCALHOST_[A-Z_]+/g))
    assert.ok(settings.includes(`\`${name}\``), name);
});
