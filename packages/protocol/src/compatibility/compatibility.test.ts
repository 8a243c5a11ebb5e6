import assert from "node:assert/strict";
import { test } from "node:test";
import { translateSettings } from "./agent-settings.ts";
import { endStateOf } from "./end-states.ts";
import { foreignCodeOf, serviceHostIn, withOurVariables, withoutForeignPrefix } from "./names.ts";

test("settings come out in our own words", () => {
  const cases: [Parameters<typeof translateSettings>[0], object][] = [
    [{}, {}],
    [{ krispViva: {} }, { vendorViva: {} }],
    [{ krispViva: null, vendorViva: { audioFilter: "tel" } }, { vendorViva: { audioFilter: "tel" } }],
    [{ krispViva: { audioFilter: "pro" } }, { vendorViva: { audioFilter: "pro" } }],
    [{ krispViva: { audioFilter: null } }, { vendorViva: { audioFilter: null } }],
    [
      { krispViva: { audioFilter: "pro" }, vendorViva: { audioFilter: "pro" } },
      { vendorViva: { audioFilter: "pro" } },
    ],
    [{ krispViva: { audioFilter: "pro" }, vendorViva: {} }, { vendorViva: { audioFilter: "pro" } }],
    [{ krispViva: {}, vendorViva: { audioFilter: "tel" } }, { vendorViva: { audioFilter: "tel" } }],
  ];
  for (const [request, body] of cases)
    assert.deepEqual(translateSettings(request), { body, warning: undefined });
  assert.throws(
    () => translateSettings({ krispViva: { audioFilter: "pro" }, vendorViva: { audioFilter: null } }),
    { code: "GENERIC_BAD_REQUEST" },
  );
  assert.match(translateSettings({ architecture: "arm64" }).warning ?? "", /arm64/);
});

test("names of other tools, and ours before them", () => {
  assert.equal(serviceHostIn({ _pipecatCloudServiceHost: "a.org" }), "a.org");
  assert.equal(serviceHostIn({ _pipecatCloudServiceHost: "a.org", _serviceHost: "b.org" }), "b.org");
  assert.equal(serviceHostIn({ _pipecatCloudServiceHost: 5, _serviceHost: "" }), undefined);
  assert.equal(withoutForeignPrefix("pcc_pat_sk_1"), "sk_1");
  assert.equal(withoutForeignPrefix("sk_pcc_pat_1"), "sk_pcc_pat_1");
  assert.equal(withOurVariables({ PIPECAT_ICE_SERVERS: "a" })["VOCALHOST_ICE_SERVERS"], "a");
  const both = { PIPECAT_ICE_SERVERS: "a", VOCALHOST_ICE_SERVERS: "b" };
  assert.equal(withOurVariables(both)["VOCALHOST_ICE_SERVERS"], "b");
  assert.equal(foreignCodeOf("AGENT-1001"), "PCC-1001");
  assert.equal(foreignCodeOf("CONFLICT"), undefined);
  assert.equal(endStateOf({ status: "ended", endReason: "bot-finished" }), "completed");
  assert.equal(endStateOf({ status: "ended", endReason: null }), "unknown");
});
