import type { LogEvent } from "@vocalhost/protocol";
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { startApiHarness, type ApiHarness } from "./testing/api-harness.ts";
import { rejects } from "./testing/check-refusal.ts";

async function withAgent(api: ApiHarness): Promise<(texts: string[]) => Promise<void>> {
  const image = "vocalhost/base:0.2.0";
  const { desiredDeploymentId: deploymentId } = await api.client.agents.create({
    serviceName: "parrot",
    image,
  });
  const [agent] = (await api.client.agents.list()).services;
  const instanceId = randomUUID();
  let position = 0;
  return async (texts) => {
    for (const text of texts) {
      position += 1;
      const place = { instanceId, position, at: position * 1_000, nanos: 602 };
      const owner = { organizationId: api.acme.id, agentId: agent?.id ?? "", deploymentId, sessionId: null };
      await api.store.db
        .insertInto("logLines")
        .values({ ...place, ...owner, text })
        .execute();
    }
  };
}

test("lines are read in parts, by time and by text", async () => {
  await using api = await startApiHarness();
  const print = await withAgent(api);
  await print(Array.from({ length: 12 }, (_, index) => `line ${index + 1}`));
  const { logs } = api.client.agents;
  const page = await logs("parrot");
  assert.deepEqual(page.total, { value: 12, relation: "eq" });
  assert.equal(page.logs.length, 10);
  assert.equal(page.logs[0]?.log, "line 12");
  assert.equal(page.logs[0]?.timestamp, "1970-01-01T00:00:12.000000602Z");
  const texts = async (query: Parameters<typeof logs>[1]) =>
    (await logs("parrot", query)).logs.map(({ log }) => log);
  assert.deepEqual(await texts({ order: "asc", limit: 2, offset: 1 }), ["line 2", "line 3"]);
  assert.deepEqual(await texts({ query: "LINE 11" }), ["line 11"]);
  assert.deepEqual(await texts({ startTime: 3, endTime: 4 }), ["line 4", "line 3"]);
  assert.deepEqual(await texts({ deploymentId: randomUUID() }), []);
});

test("what is refused about logs", async () => {
  await using api = await startApiHarness();
  await withAgent(api);
  const { agents } = api.client;
  const odd = { startTime: "yesterday" } as never;
  await rejects(agents.logs("parrot", odd), 400, "GENERIC_BAD_REQUEST", "Invalid timestamp format");
  await rejects(agents.logs("parrot", { limit: 0 }), 400, "GENERIC_BAD_REQUEST", "Invalid parameters");
  await rejects(agents.logs("absent"), 404, "NOT_FOUND", "Not found");
  await rejects(api.clientOf(api.other.privateKey).agents.logs("parrot"), 404, "NOT_FOUND", "Not found");
  await rejects(agents.tailLogs("absent").next(), 404, "NOT_FOUND", "Not found");
  await rejects(
    agents.tailLogs("parrot", { after: "nonsense" }).next(),
    400,
    "GENERIC_BAD_REQUEST",
    "The cursor is not valid",
  );
});

test("a live log follows what is printed and goes on where it broke off", async () => {
  await using api = await startApiHarness();
  const print = await withAgent(api);
  await print(["one", "two"]);
  const watching = new AbortController();
  const tail = api.client.agents.tailLogs("parrot", { signal: watching.signal });
  const first = await take(tail, 2);
  assert.deepEqual(textsOf(first), ["one", "two"]);
  await print(["three", "with\nbreak"]);
  assert.deepEqual(textsOf(await take(tail, 2)), ["three", "with\nbreak"]);
  watching.abort();
  assert.deepEqual(await tail.next(), { done: true, value: undefined });

  const again = new AbortController();
  const rest = api.client.agents.tailLogs("parrot", { after: first[0]?.id ?? "", signal: again.signal });
  assert.deepEqual(textsOf(await take(rest, 3)), ["two", "three", "with\nbreak"]);
  again.abort();
  await rest.next();
});

test("a live log ends with the right to read it", async () => {
  await using api = await startApiHarness();
  const print = await withAgent(api);
  await print(["one"]);
  const { id, key } = await api.client.keys.create({ name: "short", type: "private" });
  const tail = api.clientOf(key).agents.tailLogs("parrot");
  assert.deepEqual(textsOf(await take(tail, 1)), ["one"]);
  await api.client.keys.revoke(id);
  await print(["two"]);
  assert.deepEqual(await take(tail, 1), []);
});

async function take(events: AsyncGenerator<LogEvent>, count: number): Promise<LogEvent[]> {
  const taken: LogEvent[] = [];
  while (taken.length < count) {
    const next = await events.next();
    if (next.done) break;
    taken.push(next.value);
  }
  return taken;
}

function textsOf(events: LogEvent[]): string[] {
  return events.map(({ line }) => line.log);
}
