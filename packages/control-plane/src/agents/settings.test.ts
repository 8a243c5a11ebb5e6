import assert from "node:assert/strict";
import { test } from "node:test";
import { baseVersionOf, hasFilter } from "./base-version.ts";
import { isInternalRegistry, registryOf } from "./image-registry.ts";
import { defaultSettings, isSameSettings, mergeScaling, mergeSettings, type Settings } from "./settings.ts";

const settings: Settings = { ...defaultSettings, image: "a/b:c", buildId: null };

test("what is left out stays, null counts as left out, null switches only the filter off", () => {
  const filtered: Settings = { ...settings, audioFilter: "tel", secretSet: "keys" };
  const cases: [Parameters<typeof mergeSettings>[1], Partial<Settings>][] = [
    [{}, {}],
    [{ vendorViva: {} }, {}],
    [{ vendorViva: null }, {}],
    [{ vendorViva: { audioFilter: null } }, { audioFilter: null }],
    [{ vendorViva: { audioFilter: "pro" } }, { audioFilter: "pro" }],
    [{ secretSet: null, agentProfile: null, maxSessionDuration: null, websocketAuth: null }, {}],
    [{ secretSet: "" }, { secretSet: null }],
    [
      { secretSet: "others", imagePullSecretSet: "pull" },
      { secretSet: "others", imagePullSecretSet: "pull" },
    ],
    [{ maxSessionDuration: 60 }, { maxSessionDurationS: 60 }],
    [
      { agentProfile: "agent-3x", websocketAuth: "none" },
      { agentProfile: "agent-3x", websocketAuth: "none" },
    ],
    [{ autoScaling: { maxAgents: 1 }, forceRedeploy: true, serviceName: "x", region: "y" }, {}],
  ];
  for (const [wish, changes] of cases)
    assert.deepEqual(mergeSettings(filtered, wish), { ...filtered, ...changes }, JSON.stringify(wish));
});

test("settings are the same only if all are", () => {
  assert.ok(isSameSettings(settings, { ...settings }));
  const others: Partial<Settings>[] = [
    { image: "a/b:d" },
    { buildId: "x" },
    { secretSet: "x" },
    { imagePullSecretSet: "x" },
    { agentProfile: "agent-2x" },
    { audioFilter: "tel" },
    { maxSessionDurationS: 60 },
    { websocketAuth: "none" },
  ];
  for (const other of others)
    assert.ok(!isSameSettings(settings, { ...settings, ...other }), JSON.stringify(other));
});

test("scaling keeps its order", () => {
  const base = { minAgents: 2, maxAgents: 4 };
  assert.deepEqual(mergeScaling(base, {}), base);
  assert.deepEqual(mergeScaling(base, { autoScaling: { minAgents: 4 } }), { minAgents: 4, maxAgents: 4 });
  assert.throws(() => mergeScaling(base, { autoScaling: { minAgents: 5 } }), { code: "GENERIC_BAD_REQUEST" });
  assert.throws(() => mergeScaling(base, { autoScaling: { maxAgents: 1 } }), { code: "GENERIC_BAD_REQUEST" });
});

test("the filter is in the base since 0.1.8", () => {
  const versions: [string, boolean][] = [
    ["0.1.7", false],
    ["0.1.8", true],
    ["0.1.8-rc.1", false],
    ["0.1.9-rc.1", true],
    ["0.1.10", true],
    ["0.2.0", true],
    ["1.0.0", true],
    ["0.0.99", false],
    ["v0.2.0", true],
    ["latest", true],
    ["0.2", false],
    ["nightly", false],
  ];
  for (const [version, expected] of versions) assert.equal(hasFilter(version), expected, version);
  assert.equal(baseVersionOf("vocalhost/base:0.1.8"), "0.1.8");
  assert.equal(baseVersionOf(`docker.io/vocalhost/base:0.1.8@sha256:${"0".repeat(64)}`), "0.1.8");
  assert.equal(baseVersionOf("acme/base:0.1.8"), undefined);
});

test("registries inside are told from those outside", () => {
  const cases: [string, boolean][] = [
    ["acme/bot:1", false],
    ["ghcr.io/acme/bot:1", false],
    ["registry.example.com:5000/acme/bot:1", false],
    ["localhost/acme/bot:1", true],
    ["localhost:5000/acme/bot:1", true],
    ["registry:5000/acme/bot:1", true],
    ["127.0.0.1/acme/bot:1", true],
    ["10.0.0.1:5000/acme/bot:1", true],
    ["169.254.169.254/acme/bot:1", true],
    ["registry.kube-system.svc/acme/bot:1", true],
    ["registry.internal/acme/bot:1", true],
  ];
  for (const [image, expected] of cases) {
    const registry = registryOf(image);
    assert.equal(registry !== undefined && isInternalRegistry(registry), expected, image);
  }
});
