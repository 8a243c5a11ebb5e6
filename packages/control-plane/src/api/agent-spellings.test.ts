import assert from "node:assert/strict";
import { test } from "node:test";
import { startApiHarness } from "./testing/api-harness.ts";
import { checkRefusal, type Refusal } from "./testing/check-refusal.ts";

const image = "vocalhost/base:0.2.0";

test("the voice filter has two names in requests and answers", async () => {
  await using api = await startApiHarness();
  const agent = { serviceName: "parrot", image, krispViva: { audioFilter: "pro" } } as const;
  const created = await api.client.agents.create(agent);
  assert.deepEqual([created.vendorViva, created.krispViva], [{ audioFilter: "pro" }, { audioFilter: "pro" }]);
  const changes: [Record<string, unknown>, filter: string | null, warning: RegExp | undefined][] = [
    [{ krispViva: { audioFilter: "tel" } }, "tel", undefined],
    [{ krispViva: {} }, "tel", /^The configuration is the same/],
    [
      { krispViva: {}, architecture: "arm64" },
      "tel",
      /^architecture 'arm64' was ignored.* The configuration/,
    ],
    [{ krispViva: { audioFilter: null }, architecture: "amd64" }, null, /^architecture 'amd64' was ignored/],
    [{ krispViva: { audioFilter: "tel" }, vendorViva: { audioFilter: "tel" } }, "tel", undefined],
  ];
  for (const [body, audioFilter, warning] of changes) {
    const now = await api.client.agents.update("parrot", body);
    assert.deepEqual(
      [now.vendorViva, now.krispViva],
      [{ audioFilter }, { audioFilter }],
      JSON.stringify(body),
    );
    if (warning) assert.match(now.warning ?? "", warning);
    else assert.equal(now.warning, undefined);
  }
});

test("profiles are listed as they can be named in settings", async () => {
  await using api = await startApiHarness();
  const { agentProfiles } = await api.client.agentProfiles();
  assert.deepEqual(
    agentProfiles.map(({ api_name, resources }) => [api_name, resources]),
    [
      ["agent-1x", { cpu: "500m", memory: "1Gi" }],
      ["agent-2x", { cpu: "1000m", memory: "2Gi" }],
      ["agent-3x", { cpu: "1500m", memory: "3Gi" }],
    ],
  );
  const { agentProfiles: named } = await api.clientOf(api.acme.privateKey, "acme").agentProfiles();
  assert.deepEqual(named, agentProfiles);
});

test("settings that do not exist are refused, and named in the sentence", async (t) => {
  await using api = await startApiHarness();
  const invalid = "Invalid parameters";
  const cases: Refusal[] = [
    { body: { krispViva: { audioFilter: "hifi" } }, error: invalid, field: "krispViva.audioFilter" },
    {
      body: { vendorViva: { audioFilter: "tel" }, krispViva: { audioFilter: "pro" } },
      error: invalid,
      field: "krispViva.audioFilter",
    },
    { body: { secretset: "keys" }, error: `${invalid}. Unrecognized key: "secretset"`, field: "" },
    {
      body: { git: {}, resources: {} },
      error: `${invalid}. Unrecognized keys: "git", "resources"`,
      field: "",
    },
    {
      body: { vendorViva: { filter: "tel" } },
      error: `${invalid}. Unrecognized key: "filter"`,
      field: "vendorViva",
    },
    { body: { autoScaling: { min: 1 } }, error: `${invalid}. Unrecognized key: "min"`, field: "autoScaling" },
  ];
  for (const { body, ...expected } of cases)
    await t.test(JSON.stringify(body), async () => {
      const response = await api.fetch("/v1/agents", {
        method: "POST",
        token: api.acme.privateKey,
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ serviceName: "parrot", image, ...body }),
      });
      await checkRefusal(response, expected);
    });
});
