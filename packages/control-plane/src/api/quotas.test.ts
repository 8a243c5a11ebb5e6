import { ApiError } from "@vocalhost/protocol";
import assert from "node:assert/strict";
import { test } from "node:test";
import { createRequestLimits } from "../identity/rate-limits.ts";
import { createQuotas, defaultQuotas } from "../identity/quotas/quotas.ts";
import { createTestClock } from "@vocalhost/base/testing/test-clock";
import { startApiHarness } from "./testing/api-harness.ts";

const image = "a/b:c";

test("an organisation has so many agents and keeps so many instances", async () => {
  await using api = await startApiHarness({
    quotasOf: createQuotas({ ...defaultQuotas, agents: 2, instances: 5 }, { other: { agents: 0 } }),
  });
  await api.client.agents.create({ serviceName: "one", image, autoScaling: { minAgents: 3, maxAgents: 9 } });
  await refused(
    api.client.agents.create({ serviceName: "two", image, autoScaling: { minAgents: 3, maxAgents: 9 } }),
    { code: "QUOTA_EXCEEDED", status: 403, text: /5 instances, and its agents would keep 6/ },
  );
  await api.client.agents.create({ serviceName: "two", image, autoScaling: { minAgents: 2, maxAgents: 9 } });
  await refused(api.client.agents.update("two", { autoScaling: { minAgents: 3 } }), {
    code: "QUOTA_EXCEEDED",
    status: 403,
    text: /would keep 6/,
  });
  await api.client.agents.update("two", { autoScaling: { minAgents: 1 } });
  await refused(api.client.agents.create({ serviceName: "three", image }), {
    code: "QUOTA_EXCEEDED",
    status: 403,
    text: /may have 2 agents/,
  });
  const other = api.clientOf(api.other.privateKey);
  await refused(other.agents.create({ serviceName: "one", image }), {
    code: "QUOTA_EXCEEDED",
    status: 403,
    text: /may have 0 agents/,
  });
  assert.deepEqual(await api.client.quotas(), {
    agents: { used: 2, limit: 2 },
    instances: { used: 0, limit: 5 },
    builds: { used: 0, limit: 20 },
    diskMib: { used: 0, limit: 51_200 },
  });
});

test("who makes twenty agents at once gets as many as allowed", async () => {
  await using api = await startApiHarness({ quotasOf: createQuotas({ ...defaultQuotas, agents: 3 }) });
  const tries = await Promise.allSettled(
    Array.from({ length: 20 }, (_, index) =>
      api.client.agents.create({ serviceName: `bot-${index}`, image }),
    ),
  );
  assert.equal(tries.filter(({ status }) => status === "fulfilled").length, 3);
});

test("keys of an organisation share one rate, people have their own, others notice nothing", async () => {
  const clock = createTestClock();
  const requestLimits = createRequestLimits({ clock, rates: { reads: 3, changes: 2 } });
  await using api = await startApiHarness({ requestLimits });
  const second = await api.apiKeys.create(api.acme.id, { kind: "private", name: "second" }, "system");
  const status = async (token: string, init: RequestInit = {}) =>
    (await api.fetch("/v1/agents", { token, ...init })).status;
  const { privateKey } = api.acme;
  assert.deepEqual(
    [await status(privateKey), await status(second.value), await status(privateKey)],
    [200, 200, 200],
  );
  const answer = await api.fetch("/v1/agents", { token: second.value });
  assert.equal(answer.status, 429);
  assert.equal(answer.headers.get("retry-after"), "20");
  assert.deepEqual(await answer.json(), {
    error: "The keys of this organisation may make 3 reads a minute together: wait a moment",
    code: "RATE_LIMITED",
  });
  assert.equal(await status(api.other.privateKey), 200);
  assert.equal(await status(await api.signIn(api.acme, "owner")), 200);
  const change = { method: "POST", body: "{}", headers: { "content-type": "application/json" } };
  assert.deepEqual(
    [await status(privateKey, change), await status(privateKey, change), await status(privateKey, change)],
    [400, 400, 429],
  );
  clock.monotonic += 20_000;
  assert.deepEqual([await status(privateKey), await status(privateKey)], [200, 429]);
});

test("one start too many of an organisation is refused in words, and not another's", async () => {
  await using api = await startApiHarness({
    quotasOf: createQuotas(defaultQuotas, { acme: { startsPerSecond: 0 } }),
  });
  const start = ({ publicKey }: { publicKey: string }) =>
    api.fetch("/v1/public/parrot/start", {
      token: publicKey,
      method: "POST",
      body: "{}",
      headers: { "content-type": "application/json" },
    });
  const refusal = await start(api.acme);
  assert.equal(refusal.status, 429);
  assert.equal(refusal.headers.get("retry-after"), "1");
  const error = "This organisation may start 0 sessions a second: wait a moment, or ask for more";
  assert.deepEqual(await refusal.json(), { error, detail: error, code: "RATE_LIMITED" });
  assert.equal((await start(api.other)).status, 200);
  assert.equal(api.started.length, 1);
});

test("an owner of the first organisation makes another one, which is empty and his", async () => {
  await using api = await startApiHarness();
  const owner = api.clientOf(await api.signIn(api.acme, "owner"));
  assert.deepEqual(await owner.createOrganization({ name: "branch", verboseName: "The Branch" }), {
    name: "branch",
    verboseName: "The Branch",
  });
  const { organizations } = await owner.organizations();
  assert.deepEqual(
    organizations.map(({ name, role }) => [name, role]),
    [
      ["acme", "owner"],
      ["branch", "owner"],
    ],
  );
  await refused(owner.createOrganization({ name: "branch" }), {
    code: "CONFLICT",
    status: 409,
    text: /branch/,
  });
  await owner.createOrganization({ name: "second-branch" }); // although the person belongs to several by now
  for (const name of ["a", "UPPER", "with.dot", "-x", "x-", "x".repeat(55)])
    await refused(owner.createOrganization({ name }), {
      code: "GENERIC_BAD_REQUEST",
      status: 400,
      text: /./,
    });
  await refused(api.client.createOrganization({ name: "by-key" }), {
    code: "UNAUTHORIZED",
    status: 401,
    text: /Sign in to create/,
  });
  for (const [organization, role] of [
    [api.other, "owner"],
    [api.acme, "admin"],
    [api.acme, "viewer"],
  ] as const)
    await refused(api.clientOf(await api.signIn(organization, role)).createOrganization({ name: "mine" }), {
      code: "ACCESS_DENIED",
      status: 403,
      text: role === "owner" ? /Only owners of 'acme'/ : /./,
    });
});

async function refused(
  promise: Promise<unknown>,
  { code, status, text }: { code: string; status: number; text: RegExp },
): Promise<void> {
  await assert.rejects(promise, (error) => {
    assert.ok(error instanceof ApiError, String(error));
    assert.equal(error.code, code);
    assert.equal(error.status, status);
    assert.match(error.message, text);
    return true;
  });
}
