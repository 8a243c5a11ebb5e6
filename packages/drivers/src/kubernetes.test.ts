// The driver against a stand-in of an API server; `npm run check:kubernetes` runs the same contract on a real cluster.
import assert from "node:assert/strict";
import { once } from "node:events";
import { request } from "node:http";
import { test } from "node:test";
import { until } from "../../../testing/wait.ts";
import { PRETENDED, startKubernetesHarness as start } from "./testing/cluster/kubernetes-harness.ts";
import { driverContract, specOf } from "./testing/driver-contract.ts";
import { DriverUnavailableError, type InstanceSpec, type SeenInstance } from "./driver.ts";

driverContract("kubernetes", start);

const START = { phase: "Pending" };
const OWNER = { agentId: "a-1", agentName: "parrot", deploymentId: "d-1" };

test("a pod is confined, pinned and labelled, and tells nobody its secrets", async () => {
  await using harness = await start();
  const { driver } = await harness.open();
  const pullSecret = { host: "registry.example.com", username: "robot", token: "open-sesame" };
  const spec = specOf(
    { ...PRETENDED, pullSecret },
    { environment: { KEY: "hush-hush" }, owner: OWNER, cpuMillicores: 500, memoryMib: 512 },
  );
  await driver.create(spec);
  const pod = harness.pod(spec);
  const [container] = pod["spec"].containers;
  assert.equal(container.image, PRETENDED.reference);
  assert.deepEqual(container.resources, {
    requests: { cpu: "250m", memory: "512Mi" },
    limits: { cpu: "500m", memory: "512Mi" },
  });
  assert.equal(pod["spec"].automountServiceAccountToken, false);
  assert.equal(pod["spec"].securityContext.runAsNonRoot, true);
  assert.deepEqual(container.securityContext.capabilities, { drop: ["ALL"] });
  const { labels = {}, ownerReferences = [] } = pod.metadata;
  assert.deepEqual(
    ["agent", "agent-name", "deployment", "instance", "state"].map(
      (name) => labels[`vocalhost.github.io/${name}`],
    ),
    ["a-1", "parrot", "d-1", spec.id, "idle"],
  );
  const [owner] = harness.api
    .objects("configmaps")
    .filter(({ metadata }) => metadata.name?.includes("agent"));
  assert.equal(ownerReferences[0]?.uid, owner?.metadata.uid);
  assert.doesNotMatch(JSON.stringify(pod), new RegExp(`hush-hush|open-sesame|${spec.token}`));
  const [{ name } = { name: "" }] = pod["spec"].imagePullSecrets as { name: string }[];
  const opened = harness.api.find("secrets", name)?.["data"][".dockerconfigjson"] as string;
  assert.match(Buffer.from(opened, "base64").toString(), /"registry\.example\.com":\{"username":"robot"/);
});

test("with its agent's object goes everything of an agent", async () => {
  await using harness = await start();
  const { driver } = await harness.open();
  await driver.fence(1);
  const spec = specOf(PRETENDED, { owner: OWNER });
  await driver.create(spec);
  await harness.ask("DELETE", "configmaps/vocalhost-agent-a-1");
  const seen = await until(async () => (await driver.list()).find(isOver), 10_000, "end");
  assert.equal(seen.id, spec.id);
  assert.equal(harness.api.find("secrets", `vocalhost-${spec.id}`), undefined);
  await driver.forget(spec.id);
  assert.deepEqual(harness.api.objects("pods"), []);
});

test("of an agent that is deleted nothing is left", async () => {
  await using harness = await start();
  const { driver } = await harness.open();
  await driver.fence(1);
  const spec = specOf(PRETENDED, { owner: OWNER });
  await driver.create(spec);
  await driver.destroy(spec.id, { graceMs: 0 });
  await driver.forget(spec.id);
  for (const _ of ["once", "again"]) await driver.forgetAgent?.(OWNER.agentId);
  assert.equal(harness.api.find("configmaps", "vocalhost-agent-a-1"), undefined);
  // Should there be one after all, it has an owner that is there.
  const late = specOf(PRETENDED, { owner: OWNER });
  await driver.create(late);
  const owner = harness.api.find("configmaps", "vocalhost-agent-a-1");
  assert.equal(harness.pod(late).metadata.ownerReferences?.[0]?.uid, owner?.metadata.uid);
});

const ends: { what: string; status: object; expect: Partial<SeenInstance["exit"] & object>; how?: RegExp }[] =
  [
    {
      what: "an image that is not there",
      status: waiting("ErrImagePull", "failed to resolve reference: registry.example.com/bot: not found"),
      expect: { code: null },
      how: /^Its image could not be pulled: it is not in its registry\. The cluster says: failed to resolve/,
    },
    {
      what: "an image nobody may have",
      status: waiting("ImagePullBackOff", "unexpected status: 401 Unauthorized"),
      expect: {},
      how: /the registry wants other credentials/,
    },
    {
      what: "a registry that does not answer",
      status: waiting("ErrImagePull", "dial tcp 10.0.0.1:443: connect: connection refused"),
      expect: {},
      how: /its registry cannot be reached/,
    },
    {
      what: "a program that cannot be started",
      status: terminated({ exitCode: 128, reason: "StartError", message: "exec: no such file\nmore" }),
      expect: { code: 128 },
      how: /^It could not be started: exec: no such file$/,
    },
    {
      what: "a container that can never be made",
      status: waiting("CreateContainerConfigError", "image has non-numeric user"),
      expect: { code: null, isForeign: undefined },
      how: /^It could not be started: image has non-numeric user$/,
    },
    {
      what: "too little memory",
      status: terminated({ exitCode: 137, reason: "OOMKilled" }),
      expect: { outOfMemory: true, isForeign: undefined },
    },
    {
      what: "a bot that fails",
      status: terminated({ exitCode: 1, reason: "Error" }),
      expect: { code: 1, outOfMemory: false, isForeign: undefined },
    },
    {
      what: "a node under pressure",
      status: { phase: "Failed", reason: "Evicted", message: "The node was low on resource: memory." },
      expect: { isForeign: true, outOfMemory: false },
      how: /^It was evicted by its node\. The cluster says: The node was low on resource/,
    },
    {
      what: "a drained node",
      status: {
        ...terminated({ exitCode: 143, reason: "Error" }),
        conditions: [{ type: "DisruptionTarget", status: "True", reason: "EvictionByEvictionAPI" }],
      },
      expect: { isForeign: true, signal: "SIGTERM" },
      how: /its node is being emptied/,
    },
    {
      what: "a node that is gone",
      status: {
        phase: "Failed",
        conditions: [
          { type: "DisruptionTarget", status: "True", reason: "DeletionByPodGC", message: "node gone" },
        ],
      },
      expect: { isForeign: true, code: null },
      how: /^Its node was lost/,
    },
  ];

for (const { what, status, expect, how } of ends)
  test(`how a pod ended is told apart: ${what}`, async () => {
    await using harness = await start();
    const { driver } = await harness.open();
    await driver.fence(1);
    const spec = specOf(PRETENDED);
    await driver.create(spec);
    harness.setStatus(spec, status);
    const { exit } = await until(async () => (await driver.list()).find(isOver), 10_000, "end");
    assert.partialDeepStrictEqual(
      exit ?? {},
      Object.fromEntries(Object.entries(expect).filter(([, v]) => v !== undefined)),
    );
    for (const [key, value] of Object.entries(expect))
      if (value === undefined) assert.ok(!(key in (exit ?? {})));
    if (how) assert.match(exit?.how ?? "", how);
    else assert.equal(exit?.how, undefined);
    await driver.forget(spec.id);
    assert.deepEqual(harness.api.objects("pods"), []);
    assert.deepEqual(harness.api.objects("secrets"), []);
  });

const noRoom = "0/3 nodes are available: 3 Insufficient cpu.";
const noSecret = "failed to sync secret cache: timed out waiting for the condition";
const waits = [
  {
    what: "room",
    status: {
      ...START,
      conditions: [{ type: "PodScheduled", status: "False", reason: "Unschedulable", message: noRoom }],
    },
    expect: `There is no room for it in the cluster. The cluster says: ${noRoom}`,
  },
  {
    what: "a node that has too much to do",
    status: waiting("CreateContainerConfigError", noSecret),
    expect: `Its node could not start it yet. The cluster says: ${noSecret}`,
  },
];

for (const { what, status, expect } of waits)
  test(`a pod waits for what may yet come, and says so: ${what}`, async () => {
    await using harness = await start();
    const { driver } = await harness.open();
    await driver.fence(1);
    const spec = specOf(PRETENDED);
    await driver.create(spec);
    harness.setStatus(spec, status);
    const seen = await until(
      async () => (await driver.list()).find(({ waitsFor }) => waitsFor),
      10_000,
      "reason",
    );
    assert.deepEqual([seen.state, seen.exit], ["running", undefined]);
    assert.equal(seen.waitsFor, expect);
    await driver.destroy(spec.id, { graceMs: 0 });
    await driver.forget(spec.id);
  });

test("one on a node that was lost is given up, others are waited for", async () => {
  await using harness = await start({ killedMs: 200 });
  const { driver } = await harness.open();
  await driver.fence(1);
  const spec = specOf(PRETENDED);
  await driver.create(spec);
  harness.api.change("pods", `vocalhost-${spec.id}`, (pod) => {
    pod["spec"].nodeName = "far";
    pod["status"] = {
      phase: "Running",
      podIP: "192.0.2.1",
      conditions: [{ type: "Ready", status: "False" }],
      containerStatuses: [{ name: "bot", ready: true, state: { running: {} } }],
    };
  });
  await driver.destroy(spec.id, { graceMs: 0 }); // after the time its node had
  const [seen] = await driver.list();
  assert.deepEqual(
    [seen?.state, seen?.exit?.how, seen?.exit?.isForeign],
    ["exited", "Its node was lost.", true],
  );
});

test("what a watch misses is found: it ends, it cannot be resumed, the cluster is away", async () => {
  await using harness = await start();
  const { driver } = await harness.open();
  await driver.fence(1);
  const spec = specOf(PRETENDED);
  await driver.create(spec);
  let changes = 0;
  driver.onChange(() => (changes += 1));
  const isSeen = async (reason: string): Promise<boolean> =>
    (await driver.list().catch(() => [])).some(({ waitsFor }) => waitsFor?.includes(reason));
  harness.api.endWatches();
  harness.waitFor(spec, "one");
  await until(() => isSeen("one"), 10_000, "news after the end of a watch");
  harness.api.endWatches();
  harness.waitFor(spec, "two");
  harness.api.compact();
  await until(() => isSeen("two"), 10_000, "news after a gap in history");
  await harness.api.stop();
  await assert.rejects(driver.create(specOf(PRETENDED)), isUnavailable(/cannot be reached/));
  await until(() => driver.list().then(() => false, isUnavailable(/cannot be reached/)), 10_000, "refusal");
  harness.waitFor(spec, "three");
  await harness.api.start();
  await until(() => isSeen("three"), 10_000, "news after an outage");
  await until(() => changes > 0, 10_000, "word of it");
});

test("one that could not be fenced off yet makes and ends nothing, until it can", async () => {
  await using harness = await start();
  const [{ driver }, { driver: former }] = [await harness.open(), await harness.open()];
  await former.fence(1);
  const spec = specOf(PRETENDED);
  await former.create(spec);
  await harness.api.stop();
  await assert.rejects(driver.fence(2), isUnavailable(/cannot be reached/));
  await assert.rejects(driver.newestEpoch(), isUnavailable(/cannot be reached/));
  await harness.api.start();
  const unfenced = isUnavailable(/does not know yet which controller leads/);
  await assert.rejects(driver.create(specOf(PRETENDED)), unfenced);
  await assert.rejects(driver.destroy(spec.id, { graceMs: 0 }), unfenced);
  assert.equal(harness.api.objects("pods").length, 1);
  await driver.fence(2);
  await driver.destroy(spec.id, { graceMs: 0 });
  await assert.rejects(former.create(specOf(PRETENDED)), { code: "EPOCH_STALE" });
});

test("races are lost with grace: names that are taken, versions that are old, servers that are busy", async () => {
  await using harness = await start();
  const [{ driver }, { driver: other }] = [await harness.open(), await harness.open()];
  const spec = specOf(PRETENDED, { owner: OWNER });
  await Promise.all([driver.create(spec), other.create(spec)]);
  assert.equal(harness.api.objects("pods").length, 1);
  harness.api.refuseNext(/^POST .*pods/, { code: 429, headers: { "retry-after": "0" } });
  await driver.create(specOf(PRETENDED, { owner: OWNER }));
  const conflict = { code: 409, status: { reason: "Conflict", message: "modified" } };
  harness.api.refuseNext(/^PUT .*configmaps/, conflict);
  await driver.fence(1);
  await Promise.all([driver.fence(3), other.fence(2).catch(() => undefined)]);
  assert.equal(await other.newestEpoch(), 3);
  harness.setStatus(spec, terminated({ exitCode: 0, reason: "Completed" }));
  harness.api.refuseNext(/^PATCH .*pods/, conflict);
  await driver.forget(spec.id);
  assert.equal(harness.api.find("pods", `vocalhost-${spec.id}`), undefined);
});

test("what the cluster refuses is the bot's fault only if it is", async () => {
  await using harness = await start();
  const { driver } = await harness.open();
  const refuse = (code: number, status: object): void =>
    harness.api.refuseNext(/^POST .*pods/, { code, status });
  refuse(422, { reason: "Invalid", message: "spec.containers[0].image: Invalid value" });
  await assert.rejects(driver.create(specOf(PRETENDED)), /refused to make a pod: spec\.containers/);
  refuse(403, { reason: "Forbidden", message: "exceeded quota: bots, requested: pods=1" });
  await assert.rejects(driver.create(specOf(PRETENDED)), isUnavailable(/exceeded quota/));
  refuse(403, { reason: "Forbidden", message: "pods is forbidden: User cannot create" });
  await assert.rejects(driver.create(specOf(PRETENDED)), isUnavailable(/is forbidden/));
  refuse(500, { reason: "InternalError", message: "etcdserver: leader changed" });
  await assert.rejects(driver.create(specOf(PRETENDED)), isUnavailable(/leader changed/));
  await assert.rejects(driver.create({ ...specOf(PRETENDED), id: "../escape" }), /Not an instance id/);
  await assert.rejects(driver.create(specOf({ kind: "build", folder: "/" })), /Pods run images/);
  assert.deepEqual(harness.api.objects("pods"), []);
});

test("pods with a call say so, and a budget keeps them", async () => {
  await using harness = await start();
  const { driver } = await harness.open();
  await driver.fence(1);
  const [busy, idle] = [specOf(PRETENDED), specOf(PRETENDED)];
  for (const spec of [busy, idle]) await driver.create(spec);
  // As the reconciler does it, again with every pass.
  const becomes = (inUse: string[], state: string): Promise<boolean> =>
    until(
      () => {
        driver.inUse?.(new Set(inUse));
        return stateOf(busy)[0] === state;
      },
      10_000,
      `label ${state}`,
    );
  const stateOf = (spec: InstanceSpec): unknown[] => [
    harness.pod(spec).metadata.labels?.["vocalhost.github.io/state"],
    harness.pod(spec).metadata.annotations?.["cluster-autoscaler.kubernetes.io/safe-to-evict"],
  ];
  await becomes([busy.id], "busy");
  assert.deepEqual(
    [stateOf(busy), stateOf(idle)],
    [
      ["busy", "false"],
      ["idle", "true"],
    ],
  );
  const [budget] = harness.api.objects("poddisruptionbudgets");
  assert.equal(budget?.["spec"].selector.matchLabels["vocalhost.github.io/state"], "busy");
  await becomes([], "idle");
});

test("an instance that calls is believed its own address and nobody else's", async () => {
  await using harness = await start();
  const { driver } = await harness.open();
  await driver.fence(1);
  const spec = specOf(PRETENDED);
  await driver.create(spec);
  const [container] = harness.pod(spec)["spec"].containers as { env: { name: string; value?: string }[] }[];
  const readyEndpoint = container?.env.find(({ name }) => name === "VOCALHOST_INSTANCE_HOME")?.value ?? "";
  const report = (token: string, body: object): Promise<number> =>
    post(`${readyEndpoint}/${spec.id}`, { token, body, from: "127.9.9.9" });
  const call = (token: string, address: string): Promise<number> => report(token, { address });
  assert.equal(await report("wrong", { starvedMs: 500 }), 401);
  assert.equal(await report(spec.token, { starvedMs: "much" }), 400);
  assert.equal(await report(spec.token, { starvedMs: 500 }), 204);
  assert.equal(await call("wrong", "127.9.9.9:7860"), 401);
  assert.equal(await call(spec.token, "169.254.169.254:80"), 409);
  assert.equal((await driver.list())[0]?.address, undefined);
  assert.equal(await call(spec.token, "127.9.9.9:7860"), 204);
  assert.equal((await driver.list())[0]?.address, "127.9.9.9:7860");
});

function waiting(reason: string, message: string): object {
  return { phase: "Pending", containerStatuses: [{ name: "bot", state: { waiting: { reason, message } } }] };
}

function terminated(how: { exitCode: number; reason: string; message?: string }): object {
  return {
    phase: how.exitCode === 0 ? "Succeeded" : "Failed",
    containerStatuses: [{ name: "bot", state: { terminated: how } }],
  };
}

function isOver({ state }: SeenInstance): boolean {
  return state === "exited";
}

function isUnavailable(text: RegExp): (error: unknown) => boolean {
  return (error) => error instanceof DriverUnavailableError && text.test(error.message);
}

async function post(
  url: string,
  { token, body, from }: { token: string; body: object; from: string },
): Promise<number> {
  const asked = request(url, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    localAddress: from,
    agent: false,
  });
  asked.end(JSON.stringify(body));
  const [response] = (await once(asked, "response")) as [{ statusCode: number; resume(): void }];
  response.resume();
  return response.statusCode;
}
