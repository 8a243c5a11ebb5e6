import assert from "node:assert/strict";
import { test } from "node:test";
import { changesOf, needsRollout, problemsOf, type ConfigurationForm } from "./configuration-form.ts";

const form: ConfigurationForm = {
  audioFilter: "",
  minAgents: "0",
  maxAgents: "5",
  secretSet: "",
  agentProfile: "agent-1x",
  maxSessionDuration: "7200",
  websocketAuth: "token",
};

test("only what differs is sent, and off is sent as null", () => {
  assert.deepEqual(changesOf(form, { ...form }), {});
  assert.deepEqual(changesOf(form, { ...form, audioFilter: "tel" }), { vendorViva: { audioFilter: "tel" } });
  assert.deepEqual(changesOf({ ...form, audioFilter: "pro" }, form), { vendorViva: { audioFilter: null } });
  assert.deepEqual(changesOf({ ...form, secretSet: "a" }, form), { secretSet: "" });
  assert.deepEqual(changesOf(form, { ...form, maxAgents: " 7" }), {
    autoScaling: { minAgents: 0, maxAgents: 7 },
  });
});

test("scaling alone needs no rollout", () => {
  assert.equal(needsRollout({ autoScaling: { minAgents: 1, maxAgents: 2 } }), false);
  assert.equal(needsRollout({ autoScaling: { minAgents: 1, maxAgents: 2 }, secretSet: "" }), true);
});

test("what the service would refuse is said before it is asked", () => {
  assert.deepEqual(problemsOf(form), {});
  assert.deepEqual(Object.keys(problemsOf({ ...form, minAgents: "9" })), ["minAgents"]);
  assert.deepEqual(Object.keys(problemsOf({ ...form, maxAgents: "0" })), ["maxAgents"]);
  assert.deepEqual(Object.keys(problemsOf({ ...form, maxSessionDuration: "1e9" })), ["maxSessionDuration"]);
});
