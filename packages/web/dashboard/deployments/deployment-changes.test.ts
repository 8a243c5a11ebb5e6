import { DeploymentSettings } from "@vocalhost/protocol";
import assert from "node:assert/strict";
import { test } from "node:test";
import { changesBetween, settingsInWords } from "./deployment-changes.ts";

const settings = DeploymentSettings.parse({
  image: "a/b:1",
  buildId: null,
  agentProfile: "agent-1x",
  secretVersion: null,
});

test("differences are named in words, also between the two filters", () => {
  assert.deepEqual(changesBetween(settings, settings), []);
  assert.deepEqual(changesBetween({ ...settings, audioFilter: "tel" }, { ...settings, audioFilter: "pro" }), [
    { label: "Voice filter", before: "tel", after: "pro" },
  ]);
  assert.deepEqual(changesBetween(settings, { ...settings, image: "a/b:2", audioFilter: "tel" }), [
    { label: "Image", before: "a/b:1", after: "a/b:2" },
    { label: "Voice filter", before: "Off", after: "tel" },
  ]);
});

test("of two builds the build is named, not the image made of it", () => {
  const first = { ...settings, image: "x:1", buildId: "1" };
  const second = { ...settings, image: "x:2", buildId: "2" };
  assert.deepEqual(changesBetween(first, second), [{ label: "Build", before: "1", after: "2" }]);
  assert.ok(settingsInWords(first).every(({ label }) => label !== "Image"));
});
