import assert from "node:assert/strict";
import { test } from "node:test";
import type { Project } from "../project/read-project.ts";
import { deployArguments, deployOptions, type DeployOptions } from "./deploy-options.ts";
import { toDeployRequest } from "./deploy-request.ts";

const none = Object.fromEntries(
  [...Object.keys(deployArguments), ...Object.keys(deployOptions)].map((name) => [name, undefined]),
) as DeployOptions;
const project = (config: Project["config"]): Project => ({ path: "/p/vocalhost.toml", folder: "/p", config });
const named = project({ agent_name: "my-bot" });

test("what nobody says is not sent", () => {
  const { settings, source } = toDeployRequest(none, named);
  assert.deepEqual(settings, {});
  assert.deepEqual(source, { type: "folder", folder: "/p", dockerfile: "Dockerfile", exclude: [] });
});

test("flags win over the file, part by part", () => {
  const file = project({
    agent_name: "my-bot",
    scaling: { min_agents: 1, max_agents: 3 },
    vendor_viva: { audio_filter: "tel" },
    secret_set: "mine",
    build: { context_dir: "src", exclude: { patterns: ["docs"] } },
  });
  const request = toDeployRequest(
    { ...none, maxAgents: 5, vendorVivaAudioFilter: "none", secrets: "", force: true },
    file,
  );
  assert.deepEqual(request.settings, {
    autoScaling: { minAgents: 1, maxAgents: 5 },
    vendorViva: { audioFilter: null },
    secretSet: "",
    forceRedeploy: true,
  });
  assert.deepEqual(request.source, {
    type: "folder",
    folder: "/p/src",
    dockerfile: "Dockerfile",
    exclude: ["docs"],
  });
});

test("one source is taken: the command line's, then the file's image or build, then the folder", () => {
  const image = "registry.example.com/team/bot:1";
  const buildId = "11111111-1111-4111-8111-111111111111";
  const rows: [Partial<DeployOptions>, Project["config"], object][] = [
    [{ image }, { build_id: buildId }, { type: "image", image }],
    [{ buildId }, { image }, { type: "build", buildId }],
    [{}, { image }, { type: "image", image }],
    [{}, { build_id: buildId }, { type: "build", buildId }],
    [{ buildDir: "/b" }, { image }, { type: "folder", folder: "/b", dockerfile: "Dockerfile", exclude: [] }],
  ];
  for (const [options, config, source] of rows)
    assert.deepEqual(
      toDeployRequest({ ...none, ...options }, project({ agent_name: "my-bot", ...config })).source,
      source,
    );
});

test("what cannot be is refused before anything is asked", () => {
  const rows: [Partial<DeployOptions>, Project, RegExp][] = [
    [{}, project({}), /Which agent/],
    [{ image: "a/b:1", buildDir: "." }, named, /cannot be used together/],
    [{ minAgents: 4, maxAgents: 3 }, named, /is impossible/],
    [{ agent: "start-bot" }, named, /cannot be the name/],
    [{ image: "bot" }, named, /is not an image/],
    [{ buildId: "7" }, named, /is not the id of a build/],
  ];
  for (const [options, from, message] of rows)
    assert.throws(() => toDeployRequest({ ...none, ...options }, from), {
      name: "Problem",
      exitCode: 2,
      message,
    });
});
