import assert from "node:assert/strict";
import { test } from "node:test";
import { defaultSettings, isSameSettings, mergeScaling, mergeSettings, type Settings } from "./settings.ts";

const settings: Settings = { ...defaultSettings, image: "a/b:c", buildId: null, pinned: null };

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
  for (const [input, changes] of cases)
    assert.deepEqual(mergeSettings(filtered, input), { ...filtered, ...changes }, JSON.stringify(input));
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
