import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { agentSettings, type AgentSetting } from "./agent-settings.ts";
import { DeploymentSettings } from "./deployments.ts";
import { defaultValues, placeAt, readAt, settingName, storedSettings } from "./setting-values.ts";

const rows: [string, AgentSetting][] = Object.entries(agentSettings);

test("every row agrees with itself", () => {
  for (const [key, { schema, default: value, cleared, field }] of rows) {
    assert.equal(value === null, cleared !== undefined, key);
    if (value !== null) assert.ok(schema.safeParse(value).success, key);
    if (field?.kind !== "choice") continue;
    const offered = field.options.map((option) => option.value).filter((option) => option !== "");
    assert.deepEqual(new Set(offered), new Set(schema instanceof z.ZodEnum ? schema.options : []), key);
    assert.equal(offered.length < field.options.length, cleared !== undefined, key);
  }
});

test("no two rows have the same place or name", () => {
  const faces: ((row: AgentSetting) => string)[] = [
    ({ rest }) => rest.join("."),
    ({ toml }) => toml.join("."),
    ({ flag }) => flag.name,
    ({ name }) => name,
    ({ label }) => label,
    settingName,
  ];
  for (const face of faces) assert.equal(new Set(rows.map(([, row]) => face(row))).size, rows.length);
});

test("values are read where they are placed", () => {
  const body = placeAt([
    [["a"], 1],
    [["b", "c"], null],
    [["b", "d"], "x"],
    [["b", "e"], undefined],
    [["f", "g"], undefined],
  ]);
  assert.deepEqual(body, { a: 1, b: { c: null, d: "x" } });
  assert.equal(readAt(body, ["a"]), 1);
  assert.equal(readAt(body, ["b", "c"]), null);
  assert.equal(readAt(body, ["a", "c"]), undefined);
  assert.equal(readAt({ b: null }, ["b", "c"]), undefined);
});

test("a deployment older than a setting has its default", () => {
  const spec = z.object({ ...storedSettings });
  assert.deepEqual(spec.parse({}), defaultValues("deployment"));
  // Bounds may have been others when it was made.
  assert.equal(spec.parse({ maxSessionDurationS: 5 }).maxSessionDurationS, 5);
});

test("a service older than a setting is understood", () => {
  const known = { image: "a/b:1", buildId: null, secretVersion: null, agentProfile: "agent-1x" };
  const { websocketAuth, maxSessionDuration, audioFilter } = DeploymentSettings.parse(known);
  assert.deepEqual([websocketAuth, maxSessionDuration, audioFilter], ["token", 7_200, null]);
});
