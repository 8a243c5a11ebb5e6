import assert from "node:assert/strict";
import { test } from "node:test";
import { toAgentSettings } from "../deploy/deploy-request.ts";
import { knownKeys, withFlags } from "./project-config.ts";

test("a flag wins over the file, one that was not given changes nothing", () => {
  const file = { region: "eu", scaling: { min_agents: 1, max_agents: 5 } };
  const flags = { region: undefined, scaling: { min_agents: 0, max_agents: undefined } };
  assert.deepEqual(withFlags(file, flags), { region: "eu", scaling: { min_agents: 0, max_agents: 5 } });
  assert.deepEqual(withFlags({}, { image: "a/b:1" }), { image: "a/b:1" });
});

test("only what a project says is sent, so that a redeploy keeps the rest", () => {
  assert.deepEqual(toAgentSettings({ agent_name: "my-bot" }), {});
  assert.deepEqual(toAgentSettings({ scaling: { min_agents: 0 }, vendor_viva: {}, secret_set: "" }), {
    autoScaling: { minAgents: 0 },
    secretSet: "",
  });
  assert.deepEqual(
    toAgentSettings({ image: "a/b:1", vendor_viva: { audio_filter: "pro" }, max_session_duration: 60 }),
    { image: "a/b:1", vendorViva: { audioFilter: "pro" }, maxSessionDuration: 60 },
  );
});

test("the keys of every table are known", () => {
  assert.deepEqual(Object.keys(knownKeys), ["", "vendor_viva", "scaling", "build", "build.exclude"]);
  assert.deepEqual(knownKeys["scaling"], ["min_agents", "max_agents"]);
});
