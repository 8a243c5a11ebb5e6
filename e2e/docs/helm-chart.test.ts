// That the chart says the same as the page and the packages; and where Helm is installed, what it makes of it.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
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
  const templates = readdirSync(join(CHART, "templates")).map((file) => read(CHART, "templates", file));
  const named = new Set(
    templates.flatMap((text) =>
      [...text.matchAll(/name: (VOCALHOST_[A-Z_]+)/g)].map(([, name = ""]) => name),
    ),
  );
  assert.ok(named.size > 15);
  for (const name of named) assert.ok(settings.includes(`\`${name}\``), name);
});

const REQUIRED = [
  "--kube-version=1.29.0", // a Helm that was built without its makefile takes itself for an old one
  ...["--set=publicUrl=https://bots.example.com", "--set=image.repository=example.com/service"],
];
const SEVERAL = [
  ...["--set=several.enabled=true", "--set=existingSecret=vocalhost"],
  ...["--set=several.controllerTls=controller-tls", "--set=several.gatewayTls=gateway-tls"],
];
const hasHelm = spawnSync("helm", ["version"]).status === 0;

function render(...values: string[]): { code: number | null; output: string; kinds: string[] } {
  const { status, stdout, stderr } = spawnSync("helm", ["template", "bots", CHART, ...REQUIRED, ...values], {
    encoding: "utf8",
  });
  const named = [...stdout.matchAll(/^kind: (\w+)\nmetadata:\n {2}name: (\S+)$/gm)];
  return { code: status, output: stdout + stderr, kinds: named.map(([, kind, name]) => `${kind} ${name}`) };
}

test("one pod is the usual, and several are asked for", { skip: !hasHelm && "needs helm" }, () => {
  const one = render();
  assert.equal(one.code, 0, one.output);
  assert.deepEqual(
    one.kinds.filter((name) => /^(StatefulSet|Deployment|Service) /.test(name)),
    ["Service bots", "StatefulSet bots"],
  );
  const several = render(...SEVERAL);
  assert.equal(several.code, 0, several.output);
  assert.deepEqual(
    several.kinds
      .filter((name) => /^(StatefulSet|Deployment|Service|PodDisruptionBudget) /.test(name))
      .sort(),
    [
      "Deployment bots-controller",
      "Deployment bots-gateway",
      "PodDisruptionBudget bots-controller",
      "PodDisruptionBudget bots-gateway",
      "Service bots",
      "Service bots-controllers",
    ],
  );
  for (const text of [
    "secretName: controller-tls",
    "secretName: gateway-tls",
    "secretRef: { name: vocalhost }",
  ])
    assert.equal(several.output.split(text).length, 2, text);
  assert.match(several.output, /VOCALHOST_CONTROLLERS, value: "bots-controllers\.default\.svc:7872"/);
});

test("what several need and lack is said", { skip: !hasHelm && "needs helm" }, () => {
  for (const [left, words] of [
    ["existingSecret", /existingSecret with VOCALHOST_DATABASE_URL/],
    ["several.controllerTls", /several\.controllerTls: a Secret/],
    ["several.gatewayTls", /several\.gatewayTls: a Secret/],
  ] as const) {
    const { code, output } = render(...SEVERAL.filter((value) => !value.includes(left)));
    assert.notEqual(code, 0);
    assert.match(output, words);
  }
  const { code, output } = render(...SEVERAL, "--set=several.controllers=1");
  assert.notEqual(code, 0);
  assert.match(output, /controllers/);
});
