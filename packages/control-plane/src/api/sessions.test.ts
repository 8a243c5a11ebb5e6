import { EndState } from "@vocalhost/protocol";
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import type { SessionRow } from "@vocalhost/store/schema";
import { newSessionRow } from "../sessions/session-row.ts";
import { startApiHarness, type ApiHarness } from "./testing/api-harness.ts";
import { rejects } from "./testing/check-refusal.ts";

const image = "vocalhost/base:0.2.0";

async function withSessions(api: ApiHarness, rows: Partial<SessionRow>[]): Promise<string> {
  const { desiredDeploymentId } = await api.client.agents.create({ serviceName: "parrot", image });
  const [agent] = (await api.client.agents.list()).services;
  assert.ok(agent);
  for (const row of rows) {
    const request = { transport: "webrtc", apiKeyId: null } as const;
    const blank = newSessionRow({ request, agent, sessionId: randomUUID(), nowMs: 1_000 });
    const values = { ...blank, deploymentId: desiredDeploymentId, ...row };
    await api.store.db.insertInto("sessions").values(values).execute();
  }
  return desiredDeploymentId;
}

test("the word for how a session went is the one it is found by", async () => {
  await using api = await startApiHarness();
  const ended = ["bot-finished", "client-left", "client-lost", "stopped", "deadline", "shutdown"];
  const rows = [
    ...["pending", "starting", "active", "stopping"].map((state) => ({ state, endReason: null })),
    ...[...ended, "bot-failed", "instance-lost", "never-connected", "new-one"].map((endReason) => ({
      state: "ended",
      endReason,
    })),
    ...["start-timed-out", "start-failed", "controller-restarted"].map((endReason) => ({
      state: "failed",
      endReason,
    })),
    ...["never-connected", "stopped"].map((endReason) => ({ state: "expired", endReason })),
  ] as Pick<SessionRow, "state" | "endReason">[];
  await withSessions(api, rows);
  const { sessions } = await api.client.sessions.list("parrot", { limit: 100 });
  const counts = Object.fromEntries(
    EndState.options.map((word) => [word, sessions.filter(({ endState }) => endState === word).length]),
  );
  assert.deepEqual(counts, {
    active: 4,
    completed: 3,
    ended_before_agent_start: 3,
    agent_start_timeout: 1,
    terminated: 3,
    agent_error: 3,
    unknown: 2,
  });
  for (const endState of EndState.options) {
    const found = await api.client.sessions.list("parrot", { limit: 100, endState });
    assert.deepEqual(
      found.sessions.map((session) => session.sessionId),
      sessions.filter((session) => session.endState === endState).map((session) => session.sessionId),
      endState,
    );
    assert.equal(found.total_count, counts[endState]);
  }
});

test("sessions are listed newest first, in parts, and chosen by every filter", async (t) => {
  await using api = await startApiHarness();
  const deploymentId = await withSessions(api, [
    {
      createdAt: 10_000,
      state: "ended",
      coldStart: 1,
      startMs: 2_500,
      endedAt: 20_000,
      endReason: "bot-finished",
      lengthCorrectionMs: 1_500,
    },
    { createdAt: 20_000, state: "active", coldStart: 0, startMs: 40 },
    { createdAt: 30_000, state: "failed", coldStart: 1, endedAt: 31_000, endReason: "start-timed-out" },
    { createdAt: 40_000, state: "pending", transport: "websocket", deploymentId: null },
  ]);
  const cases: [Record<string, unknown>, number[]][] = [
    [{}, [40, 30, 20, 10]],
    [{ limit: 2 }, [40, 30]],
    [{ limit: 2, offset: 3 }, [10]],
    [{ status: "active" }, [40, 20]],
    [{ status: "ended" }, [30, 10]],
    [{ startType: "cold" }, [30, 10]],
    [{ startType: "warm" }, [20]],
    [{ startTime: 20, endTime: 30 }, [30, 20]],
    [{ startTimeMin: 1 }, [10]],
    [{ startTimeMax: 1 }, [20]],
    [{ deploymentId }, [30, 20, 10]],
    [{ endState: "active" }, [40, 20]],
    [{ endState: "completed" }, [10]],
    [{ endState: "agent_start_timeout" }, [30]],
    [{ endState: "unknown" }, []],
  ];
  for (const [query, expected] of cases)
    await t.test(JSON.stringify(query), async () => {
      const { sessions } = await api.client.sessions.list("parrot", query);
      assert.deepEqual(
        sessions.map(({ createdAt }) => Date.parse(createdAt) / 1000),
        expected,
      );
    });
  assert.equal((await api.client.sessions.list("parrot", { limit: 1 })).total_count, 4);
  const { sessions } = await api.client.sessions.list("parrot");
  assert.deepEqual(
    sessions.map(({ completionStatus }) => completionStatus),
    [null, "504", null, "HTTP_COMPLETED"],
  );
  assert.equal(sessions[3]?.botStartSeconds, 2.5);
  assert.equal(sessions[3]?.coldStart, true);
  assert.deepEqual(
    sessions.map(({ lengthCorrectionMs }) => lengthCorrectionMs),
    [null, null, null, 1_500],
  );
});

test("a session is shown with its timeline and what it used", async () => {
  await using api = await startApiHarness();
  const id = randomUUID();
  await withSessions(api, [{ id, state: "active", timeline: JSON.stringify({ bootMs: 3, startMs: 12 }) }]);
  const bare = await api.client.sessions.get("parrot", id);
  assert.equal(bare.resourceMetrics, null);
  assert.deepEqual(bare.meetingIds, []);
  assert.deepEqual(bare.timeline, { bootMs: 3, startMs: 12 });
  const samples = Array.from({ length: 100 }, (_, index) => ({
    sessionId: id,
    at: 5_000 * (index + 1),
    cpuMillicores: 100 - index,
    memoryBytes: 1_000 + index,
  }));
  await api.store.db.insertInto("samples").values(samples).execute();
  const { resourceMetrics } = await api.client.sessions.get("parrot", id);
  assert.ok(resourceMetrics);
  const { timeseries, ...figures } = resourceMetrics;
  assert.deepEqual(timeseries[0], { t: 5, c: 100, m: 1_000 });
  assert.deepEqual(figures, {
    id,
    sessionId: id,
    sampleCount: 100,
    cpuMillicoresP50: 50,
    cpuMillicoresP90: 90,
    cpuMillicoresP95: 95,
    cpuMillicoresP99: 99,
    memoryBytesP50: 1_049,
    memoryBytesP90: 1_089,
    memoryBytesP95: 1_094,
    memoryBytesP99: 1_098,
    eventTs: "1970-01-01T00:08:20.000Z",
    createdAt: "1970-01-01T00:00:05.000Z",
  });
});

test("a session is stopped in the name of whoever asks", async () => {
  await using api = await startApiHarness();
  const sessionId = randomUUID();
  await withSessions(api, [{ id: sessionId, state: "active" }]);
  assert.deepEqual(await api.client.sessions.stop("parrot", sessionId), {
    status: "terminated",
    session_id: sessionId,
  });
  const [stop] = api.stopped;
  assert.match(stop?.actor ?? "", /^key:/);
  assert.deepEqual(
    { ...stop, actor: "" },
    { organizationId: api.acme.id, agentName: "parrot", sessionId, actor: "" },
  );
});

test("what is refused about sessions", async () => {
  await using api = await startApiHarness();
  const sessionId = randomUUID();
  await withSessions(api, [{ id: sessionId }]);
  const { sessions } = api.client;
  const id = randomUUID();
  const theirs = api.clientOf(api.other.privateKey).sessions;
  await rejects(sessions.list("absent"), 404, "NOT_FOUND", "Service not found");
  await rejects(theirs.list("parrot"), 404, "NOT_FOUND", "Service not found");
  await rejects(sessions.list("parrot", { deploymentId: id }), 404, "NOT_FOUND", "Deployment not found");
  await rejects(sessions.get("parrot", id), 404, "NOT_FOUND", "Session not found");
  await rejects(sessions.stop("parrot", id), 404, "NOT_FOUND", "Session not found");
  await rejects(sessions.stop("absent", sessionId), 404, "NOT_FOUND", "Service not found");
  await rejects(theirs.stop("parrot", sessionId), 404, "NOT_FOUND", "Service not found");
  await rejects(sessions.stop("parrot", "not-a-uuid"), 400, "GENERIC_BAD_REQUEST", "Invalid parameters");
  assert.deepEqual(api.stopped, []);
  const wrong = await api.fetch("/v1/agents/parrot/sessions?limit=x&status=odd", {
    token: api.acme.privateKey,
  });
  const body = (await wrong.json()) as { error: string; err: { name: string; issues: { path: string[] }[] } };
  assert.equal(wrong.status, 400);
  assert.equal(body.error, "Invalid parameters");
  assert.equal(body.err.name, "ZodError");
  assert.deepEqual(
    body.err.issues.map(({ path }) => path[0]),
    ["limit", "status"],
  );
  const stranger = await api.fetch("/v1/agents/parrot/sessions", { token: "nonsense" });
  assert.deepEqual(await stranger.json(), {
    error: "Unauthorized / token expired",
    code: "UNAUTHORIZED",
  });
});
