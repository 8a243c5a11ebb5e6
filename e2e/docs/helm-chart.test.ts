// That the chart says the same as the page and the packages; and where Helm is installed, what it makes of it.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { allSettings, readConfig } from "../../packages/control-plane/src/main/config.ts";
import { ConfigError } from "../../packages/base/src/config-error.ts";

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

interface Form {
  pattern?: string;
  enum?: string[];
}

const { settings: SETTINGS } = (
  JSON.parse(read(CHART, "values.schema.json")) as {
    properties: {
      settings: { properties: Record<string, Form>; patternProperties: Record<string, Form> };
    };
  }
).properties;

/** As Helm does it, where Helm is not installed. */
function takesSetting(name: string, value: string): boolean {
  const [, ofRegion] =
    Object.entries(SETTINGS.patternProperties).find(([names]) => new RegExp(names).test(name)) ?? [];
  const form = SETTINGS.properties[name] ?? ofRegion;
  return form !== undefined && (form.enum?.includes(value) ?? new RegExp(form.pattern ?? "").test(value));
}

test("settings are taken by name: all that the page has but those that the chart makes itself", () => {
  const taken = Object.keys(SETTINGS.properties).toSorted();
  const ofChart = new Set([
    ...["PORT", "HOST", "DATA_DIR", "DRIVER", "PARTS", "PUBLIC_URL", "CONFIG", "RESTARTS"],
    ...["CONTROLLER_LISTEN", "CONTROLLERS", "CONTROLLER_SOCKET", "PEER_CA", "PEER_CERT", "PEER_KEY"],
    ...["SERVICE", "NAMESPACE", "LISTEN", "READY_URL"].map((name) => `KUBERNETES_${name}`),
  ]);
  assert.deepEqual(
    taken,
    allSettings
      .map(({ name }) => name)
      .filter((name) => name.startsWith("VOCALHOST_") && !ofChart.has(name.slice("VOCALHOST_".length)))
      .toSorted(),
  );
  const page = read(REPOSITORY, "docs/hosted/configuration.md");
  const named = [...page.matchAll(/`VOCALHOST_([A-Z0-9_]+)`/g)].map(([, name = ""]) => name);
  const known = allSettings.map(({ name }) => name.replace("VOCALHOST_", ""));
  assert.deepEqual(
    named.filter((name) => !known.includes(name)),
    [],
  );
});

test("settings are taken by form: what the service would refuse is refused before", () => {
  for (const [name, right, wrong] of [
    ["LOG_LEVEL", "debug", "loud"],
    ["TRUST_PROXY", "true", "yes"],
    ["QUOTA_AGENTS", "5", "five"],
    ["MEDIA_PORTS", "40000-40199", "all"],
    ["DATABASE_URL", "postgres://db/vocalhost", "db:5432"],
    ["ICE_SERVERS", "[]", "stun:stun.example.com"],
    ["TIMING", '{"heartbeatMs":5000}', "fast"],
    ["USAGE_EXPORT_URL", "https://example.com", "example.com"],
  ] as const) {
    const variable = `VOCALHOST_${name}`;
    const readWith = (value: string): unknown =>
      readConfig({ [variable]: value, VOCALHOST_DATA_DIR: "/tmp" });
    assert.ok(takesSetting(variable, right) && takesSetting(variable, ""), `${name} ${right}`);
    assert.doesNotThrow(() => readWith(right));
    assert.ok(!takesSetting(variable, wrong), `${name} ${wrong}`);
    assert.throws(() => readWith(wrong), ConfigError, name);
  }
  assert.ok(takesSetting("VOCALHOST_CONTAINER_NETWORK__EU_NORTH", "north"));
  // Helm's expressions are those of Go, without looking ahead.
  assert.doesNotMatch(JSON.stringify(SETTINGS), /\(\?[!=<]|\[\^\]/);
  for (const name of ["VOCALHOST_LOG_LEVL", "VOCALHOST_LOG_LEVEL__EU_NORTH", "VOCALHOST_PORT", "LOG_LEVEL"])
    assert.ok(!takesSetting(name, ""), name);
});

test("a pod that never became ready is replaced when its values are", () => {
  for (const file of ["stateful-set.yaml", "postgres.yaml"])
    assert.match(read(CHART, "templates", file), /^ {2}podManagementPolicy: Parallel/m, file);
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

test("gateways get no setting that needs a secret", { skip: !hasHelm && "needs helm" }, () => {
  const settings = [
    "--set=settings.VOCALHOST_TURN_URLS=turn:turn.example.com",
    "--set=settings.VOCALHOST_LOG_LEVEL=debug",
  ];
  const { code, output } = render(...SEVERAL, ...settings);
  assert.equal(code, 0, output);
  assert.equal(output.split('name: VOCALHOST_LOG_LEVEL, value: "debug"').length, 3);
  assert.equal(output.split("name: VOCALHOST_TURN_URLS").length, 2);
});

test("what several need and lack is said", { skip: !hasHelm && "needs helm" }, () => {
  for (const [left, words] of [
    ["existingSecret", /existingSecret with VOCALHOST_SECRET.*VOCALHOST_DATABASE_URL/],
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

const OPTIONS = [
  ...["--set=existingSecret=vocalhost", "--set=postgres.enabled=true"],
  ...["--set=coturn.enabled=true", "--set=coturn.host=turn.example.com"],
];

test(
  "a trial Postgres and coturn are wired by reference, and not to gateways",
  { skip: !hasHelm && "needs helm" },
  () => {
    const one = render(...OPTIONS);
    const several = render(...SEVERAL, ...OPTIONS);
    for (const { code, output, kinds } of [one, several]) {
      assert.equal(code, 0, output);
      for (const kind of [
        ...["StatefulSet bots-postgres", "Service bots-postgres", "NetworkPolicy bots-postgres"],
        ...["Deployment bots-coturn", "Service bots-coturn", "NetworkPolicy bots-coturn"],
      ])
        assert.ok(kinds.includes(kind), kind);
      assert.match(
        output,
        /"postgres:\/\/vocalhost:\$\(POSTGRES_PASSWORD\)@bots-postgres\.default\.svc:5432\/vocalhost"/,
      );
      assert.match(
        output,
        /"turn:turn\.example\.com:3478\?transport=udp,turn:turn\.example\.com:3478\?transport=tcp"/,
      );
      for (const setting of ["no-tcp-relay", "denied-peer-ip=0.0.0.0-255.255.255.255"])
        assert.ok(output.includes(`echo "${setting}"`), setting);
      assert.equal(output.split('name: VOCALHOST_ICE_SERVERS, value: "[]"').length, 2);
      for (const key of ["POSTGRES_PASSWORD", "VOCALHOST_TURN_SECRET"])
        assert.equal(output.split(`secretKeyRef: { name: vocalhost, key: ${key} }`).length, 3, key);
    }
    assert.doesNotMatch(render().output, /postgres|coturn/i);
  },
);

test(
  "coturn is on a node's port without a Service where that is asked for",
  { skip: !hasHelm && "needs helm" },
  () => {
    const { code, output, kinds } = render(
      ...OPTIONS,
      "--set=coturn.hostNetwork=true",
      "--set=coturn.port=5000",
    );
    assert.equal(code, 0, output);
    assert.match(output, /hostNetwork: true/);
    assert.match(output, /echo "listening-port=5000"/);
    assert.deepEqual(
      kinds.filter((name) => name.endsWith("coturn")),
      ["Deployment bots-coturn"],
    );
    const onNodes = render(...OPTIONS, "--set=coturn.service.type=NodePort", "--set=coturn.port=30478");
    assert.equal(onNodes.output.split("nodePort: 30478").length, 3);
    assert.equal(onNodes.output.split("containerPort: 3478").length, 3);
  },
);

test("the way of the audio is one value", { skip: !hasHelm && "needs helm" }, () => {
  const secret = "--set=existingSecret=vocalhost";
  const ports = /name: VOCALHOST_MEDIA_PORTS, value: "([^"]*)"/;
  assert.doesNotMatch(render().output, ports);
  const onNodes = render("--set=media.through=hostPorts", "--set=media.hostPorts.last=40999");
  assert.equal(onNodes.code, 0, onNodes.output);
  assert.equal(ports.exec(onNodes.output)?.[1], "40000-40999");
  assert.doesNotMatch(onNodes.output, /coturn|VOCALHOST_ICE_SERVERS/);
  const relayed = render(secret, "--set=media.through=turn", "--set=coturn.host=turn.example.com");
  assert.equal(relayed.code, 0, relayed.output);
  assert.ok(relayed.kinds.includes("Deployment bots-coturn"));
  assert.match(relayed.output, /"turn:turn\.example\.com:3478\?transport=udp,/);
  assert.doesNotMatch(relayed.output, ports);
  const elsewhere = render(
    ...[secret, "--set=media.through=turn", "--set=settings.VOCALHOST_TURN_URLS=turn:turn.example.com"],
  );
  assert.equal(elsewhere.code, 0, elsewhere.output);
  assert.doesNotMatch(elsewhere.output, /coturn/);
  assert.match(elsewhere.output, /name: VOCALHOST_ICE_SERVERS, value: "\[\]"/);
  assert.notEqual(render("--set=media.through=luck").code, 0);
});

test("ports that are no range are refused", { skip: !hasHelm && "needs helm" }, () => {
  for (const [values, words] of [
    [
      ["--set=media.through=hostPorts", "--set=media.hostPorts.first=40300"],
      /media\.hostPorts: first \(40300\) is above last \(40199\)/,
    ],
    [
      [...OPTIONS, "--set=coturn.relayPorts.max=50000", "--set=coturn.relayPorts.min=50001"],
      /coturn\.relayPorts/,
    ],
    [["--set=settings.VOCALHOST_LOG_LEVL=debug"], /VOCALHOST_LOG_LEVL/],
  ] as const) {
    const { code, output } = render(...values);
    assert.notEqual(code, 0, output);
    assert.match(output, words);
  }
});

test(
  "the authority of private registries is the controller's to trust",
  { skip: !hasHelm && "needs helm" },
  () => {
    const trusted = "--set=bots.registryAuthority=ours";
    for (const { code, output } of [render(trusted), render(...SEVERAL, trusted)]) {
      assert.equal(code, 0, output);
      for (const text of [
        "NODE_EXTRA_CA_CERTS",
        'configMap: { name: "ours" }',
        "mountPath: /etc/vocalhost/authority",
      ])
        assert.equal(output.split(text).length, 2, text);
    }
    assert.doesNotMatch(render().output, /authority/);
  },
);

test("what the options need and lack is said", { skip: !hasHelm && "needs helm" }, () => {
  for (const [values, words] of [
    [["--set=postgres.enabled=true"], /postgres: existingSecret with POSTGRES_PASSWORD/],
    [OPTIONS.filter((value) => !value.includes("coturn.host")), /coturn\.host: where callers reach it/],
    [
      ["--set=coturn.enabled=true", "--set=coturn.host=turn.example.com"],
      /coturn: existingSecret with VOCALHOST_TURN_SECRET/,
    ],
    [[...OPTIONS, "--set=coturn.peers[0]=10.0.0.0/8"], /coturn.peers.0/],
  ] as const) {
    const { code, output } = render(...values);
    assert.notEqual(code, 0, output);
    assert.match(output, words);
  }
});
