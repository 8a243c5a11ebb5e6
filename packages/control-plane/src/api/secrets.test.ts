import assert from "node:assert/strict";
import { test } from "node:test";
import { startApiHarness } from "./testing/api-harness.ts";
import { checkRefusal, rejects } from "./testing/check-refusal.ts";
import { until } from "../../../../testing/wait.ts";

test("a set is stored, listed without values, merged and deleted", async () => {
  await using api = await startApiHarness();
  const { secrets } = api.client;
  const put = {
    secrets: [
      { secretKey: "A", secretValue: "hidden-1" },
      { secretKey: "B-2", secretValue: "" },
    ],
  };
  assert.deepEqual(await secrets.put("my-set", put), { status: "OK", region: "us-west" });
  const single = {
    name: "my-set",
    isImagePullSecret: false,
    secretKey: "C",
    secretValue: "hidden-2",
    region: null,
  };
  assert.deepEqual(await secrets.put("my-set", single), { status: "OK", region: "us-west" });
  await until(async () => (await secrets.get("my-set")).status === "ready", 20_000, "ready set");
  assert.deepEqual(await secrets.get("my-set"), {
    region: "us-west",
    status: "ready",
    secrets: [{ fieldName: "A" }, { fieldName: "B-2" }, { fieldName: "C" }],
  });
  const listed = { name: "my-set", type: "secret", region: "us-west", status: "ready" };
  assert.deepEqual(await secrets.list(), { sets: [listed] });
  assert.deepEqual(await secrets.list({ region: "eu-central" }), { sets: [] });
  assert.deepEqual(await secrets.deleteKey("my-set", "A"), { status: "OK" });
  await rejects(secrets.deleteKey("my-set", "A"), 404, "NOT_FOUND", "Secret not found");
  assert.deepEqual(await secrets.delete("my-set"), { status: "OK" });
  await rejects(secrets.delete("my-set"), 404, "NOT_FOUND", "Set not found");
  await rejects(secrets.get("my-set"), 404, "NOT_FOUND", "Set not found");
});

test("the answer to a stored set is 202", async () => {
  await using api = await startApiHarness();
  const response = await api.fetch("/v1/secrets/my-set", {
    method: "PUT",
    token: api.acme.privateKey,
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ secrets: [{ secretKey: "A", secretValue: "1" }] }),
  });
  assert.equal(response.status, 202);
});

test("sets that are refused", async (t) => {
  await using api = await startApiHarness();
  const value = { secretKey: "A", secretValue: "1" };
  const pull = {
    isImagePullSecret: true,
    host: "https://registry.example.com",
    secretValue: Buffer.from("me:token").toString("base64"),
  };
  await api.client.secrets.put("plain", { secrets: [value] });
  await api.client.secrets.put("pull", pull);
  const incomplete = "Must provide isImagePullSecret, host, and secretValue to update an image pull secret";
  const format = "Invalid request format";
  const cases: { set: string; body: Record<string, unknown>; error: string }[] = [
    { set: "pull", body: { secrets: [value] }, error: incomplete },
    { set: "pull2", body: { isImagePullSecret: true, host: "https://a.b" }, error: incomplete },
    { set: "plain", body: pull, error: "Cannot update existing regular secrets to image pull secrets" },
    {
      set: "plain",
      body: { secrets: [value], region: "eu-central" },
      error: "Secret already exists in region 'us-west'. Cannot change region to 'eu-central'.",
    },
    {
      set: "fresh",
      body: { secrets: [value], region: "mars" },
      error: "Invalid region or organization does not have access",
    },
    { set: "fresh", body: {}, error: format },
    { set: "fresh", body: { secrets: [] }, error: format },
    { set: "fresh", body: { secrets: [{ secretKey: "A B", secretValue: "" }] }, error: format },
    { set: "fresh", body: { secrets: [{ secretKey: "A".repeat(65), secretValue: "" }] }, error: format },
    { set: "fresh", body: { secrets: [{ secretKey: "A" }] }, error: format },
    { set: "fresh", body: { secrets: "A" }, error: format },
    { set: "ab", body: { secrets: [value] }, error: format },
    { set: "Upper", body: { secrets: [value] }, error: format },
    { set: "a".repeat(64), body: { secrets: [value] }, error: format },
  ];
  for (const { set, body, error } of cases)
    await t.test(`${set} ${JSON.stringify(body)}`, async () => {
      const response = await api.fetch(`/v1/secrets/${set}`, {
        method: "PUT",
        token: api.acme.privateKey,
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      const answer = (await response.clone().json()) as { detail: unknown };
      const field = answer.detail === undefined ? {} : { field: firstField(answer.detail) };
      await checkRefusal(response, { error, ...field });
    });
  await rejects(
    api.client.secrets.get("pull"),
    400,
    "GENERIC_BAD_REQUEST",
    "Cannot retrieve image pull secrets by name",
  );
});

test("sets of others do not exist", async () => {
  await using api = await startApiHarness();
  await api
    .clientOf(api.other.privateKey)
    .secrets.put("theirs", { secrets: [{ secretKey: "A", secretValue: "1" }] });
  await rejects(api.client.secrets.get("theirs"), 404, "NOT_FOUND", "Set not found");
  await rejects(api.client.secrets.delete("theirs"), 404, "NOT_FOUND", "Set not found");
  assert.deepEqual(await api.client.secrets.list(), { sets: [] });
});

test("values are nowhere in the store or in an answer", async () => {
  await using api = await startApiHarness();
  const secretValue = "a-very-secret-value";
  await api.client.secrets.put("my-set", { secrets: [{ secretKey: "A", secretValue }] });
  const answers = [
    await api.client.secrets.get("my-set"),
    await api.client.secrets.list(),
    await api.client.audit(),
  ];
  const tables = ["secretSets", "secretVersions", "secretValues", "audit"] as const;
  const rows = await Promise.all(tables.map((table) => api.store.db.selectFrom(table).selectAll().execute()));
  assert.ok(!JSON.stringify([answers, rows]).includes(secretValue));
});

function firstField(detail: unknown): string {
  const [problem] = detail as { loc: string[] }[];
  return problem?.loc.slice(1).join(".") ?? "";
}
