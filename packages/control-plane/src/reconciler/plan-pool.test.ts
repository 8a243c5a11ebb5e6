import { describe } from "node:test";
import { NOW, check, deployment, exited, instance, report, running, session } from "./testing/check-plan.ts";

describe("instances", () => {
  check({
    what: "a requested one is launched",
    view: { instances: [instance({ id: "a", state: "requested" })] },
    expect: ["launch a"],
  });
  check({
    what: "not more than a few boot at once, and those that a session waits for go first",
    view: {
      bootsAtOnce: 1,
      instances: [
        instance({ id: "a", state: "requested", createdAt: NOW - 2 }),
        instance({ id: "b", state: "requested", sessionId: "s", createdAt: NOW - 1 }),
      ],
      sessions: [session({ id: "s", state: "starting", instanceId: "b", boundAt: NOW })],
    },
    expect: ["launch b"],
  });
  check({
    what: "one whose order was lost is made again",
    view: { instances: [instance({ id: "a", state: "starting" })] },
    expect: ["launch a"],
  });
  check({
    what: "one that reports ready is ready",
    view: {
      instances: [instance({ id: "a", state: "starting" })],
      seen: [running("a")],
      reports: [report("a")],
    },
    expect: ["mark-ready a"],
  });
  check({
    what: "one that ends before it is ready has crashed",
    view: { instances: [instance({ id: "a", state: "starting" })], seen: [exited("a", 1)] },
    expect: ["mark-gone a (crash)"],
  });
  check({
    what: "one that never becomes ready is given up",
    view: {
      instances: [instance({ id: "a", state: "starting" })],
      startingForMs: { a: 60_000 },
      seen: [running("a")],
    },
    expect: ["drain a (crash)"],
  });
  check({
    what: "not because the clock was set",
    view: {
      instances: [instance({ id: "a", state: "starting", stateAt: NOW - 7_200_000 })],
      startingForMs: { a: 500 },
      seen: [running("a")],
    },
    expect: [],
  });
  check({
    what: "an idle one that ends by itself is no crash",
    view: { instances: [instance({ id: "a", state: "ready" })], seen: [exited("a", 0)] },
    expect: ["mark-gone a"],
  });
  check({
    what: "a busy one goes when its session is over",
    view: {
      instances: [instance({ id: "a", state: "busy", sessionId: "s" })],
      sessions: [session({ id: "s", state: "ended", instanceId: "a" })],
      seen: [running("a")],
    },
    expect: ["drain a"],
  });
  check({
    what: "a frozen bot is killed",
    view: {
      instances: [instance({ id: "a", state: "busy", sessionId: "s" })],
      sessions: [session({ id: "s", state: "active", instanceId: "a" })],
      seen: [running("a")],
      missed: { a: 3 },
    },
    expect: ["destroy a"],
  });
  check({
    what: "one that is idle and frozen goes too",
    view: {
      instances: [instance({ id: "a", state: "ready" })],
      seen: [running("a")],
      missed: { a: 3 },
    },
    expect: ["drain a"],
  });
  check({
    what: "two missed heartbeats are no reason",
    view: {
      instances: [instance({ id: "a", state: "busy", sessionId: "s" })],
      sessions: [session({ id: "s", state: "active", instanceId: "a" })],
      seen: [running("a")],
      missed: { a: 2 },
    },
    expect: [],
  });
  check({
    what: "a draining one is ended, then written off",
    view: {
      instances: [instance({ id: "a", state: "draining" }), instance({ id: "b", state: "draining" })],
      seen: [running("a")],
    },
    expect: ["destroy a", "mark-gone b"],
  });
  check({
    what: "one reserved for a start that failed becomes free again",
    view: {
      instances: [instance({ id: "a", state: "starting", sessionId: "s" })],
      sessions: [session({ id: "s", state: "failed" })],
      seen: [running("a")],
    },
    expect: ["release a"],
  });
});

describe("rollouts", () => {
  const newer = { id: "d2", phase: "Validating" } as const;
  check({
    what: "a new deployment is prepared first",
    view: { deployments: [deployment({ id: "d2", phase: "Creating" })] },
    expect: ["prepare-deployment d2"],
  });
  check({
    what: "then one instance of it is made beside the old ones",
    view: { deployments: [deployment({}), deployment(newer)] },
    expect: ["request-instance"],
  });
  check({
    what: "its first ready instance makes it the active one",
    view: {
      deployments: [deployment({}), deployment(newer)],
      instances: [instance({ id: "a", state: "ready", deploymentId: "d2" })],
      seen: [running("a")],
    },
    expect: ["activate-deployment d2"],
  });
  check({
    what: "within the cap an idle old instance makes place",
    view: {
      agent: { maxAgents: 1, minAgents: 1 },
      deployments: [deployment({}), deployment(newer)],
      instances: [instance({ id: "a", state: "ready" })],
      seen: [running("a")],
    },
    expect: ["drain a"],
  });
  check({
    what: "after five crashes it has failed, and the old one is not touched",
    view: {
      deployments: [
        deployment({}),
        deployment({ ...newer, crashes: 5, lastCrashAt: NOW, crashText: "boom" }),
      ],
    },
    expect: ["fail-deployment d2"],
  });
  check({
    what: "idle instances of a replaced deployment go, busy ones stay",
    view: {
      deployments: [deployment({ phase: "Draining" }), deployment({ id: "d2" })],
      instances: [
        instance({ id: "a", state: "ready" }),
        instance({ id: "b", state: "busy", sessionId: "s" }),
      ],
      sessions: [session({ id: "s", state: "active", instanceId: "b" })],
      seen: [running("a"), running("b")],
    },
    expect: ["drain a"],
  });
  check({
    what: "a replaced deployment without instances is retired",
    view: { deployments: [deployment({ phase: "Draining" }), deployment({ id: "d2" })] },
    expect: ["retire-deployment d1"],
  });
  check({
    what: "a deleted agent goes when nothing of it is left",
    view: { agent: { state: "deleting", minAgents: 3 } },
    expect: ["delete-agent"],
  });
});

describe("sessions", () => {
  const busy = instance({ id: "a", state: "busy", sessionId: "s" });
  check({
    what: "a session without a client expires",
    view: { pending: { count: 2, oldestAt: NOW - 300_001 } },
    expect: ["expire-pending"],
  });
  check({
    what: "one whose socket may still come waits",
    view: { pending: { count: 2, oldestAt: NOW - 300_000 } },
    expect: [],
  });
  check({
    what: "one that waits for its socket does not hold up the end of its agent",
    view: { agent: { state: "deleting" }, pending: { count: 1, oldestAt: NOW } },
    expect: ["expire-pending"],
  });
  check({
    what: "a bot whose clock stands still is stopped by ours",
    view: {
      instances: [busy],
      sessions: [session({ id: "s", state: "active", instanceId: "a", startMs: 2_000 })],
      seen: [running("a")],
      reports: [report("a", { session: "s", elapsedMs: 0 })],
      lastedMs: { s: 67_000 },
    },
    expect: ["request-stop s"],
  });
  check({
    what: "a start of an earlier controller has failed",
    view: { sessions: [session({ id: "s", state: "starting", epoch: 6, boundAt: NOW })] },
    expect: ["fail-session s"],
  });
  check({
    what: "a start that did not end in time has failed",
    view: {
      sessions: [session({ id: "s", state: "starting", epoch: 7, boundAt: NOW })],
      startingForMs: { s: 80_001 },
    },
    expect: ["fail-session s"],
  });
  check({
    what: "but not because the clock was set",
    view: {
      sessions: [session({ id: "s", state: "starting", epoch: 7, boundAt: NOW - 7_200_000 })],
      startingForMs: { s: 500 },
    },
    expect: [],
  });
  check({
    what: "a recorded exit closes it",
    view: {
      sessions: [session({ id: "s", state: "active", instanceId: "a" })],
      instances: [busy],
      seen: [running("a")],
      reports: [report("a", { session: "s", ended: true })],
    },
    expect: ["close-session s"],
  });
  check({
    what: "an instance that is gone closes it",
    view: { sessions: [session({ id: "s", state: "active", instanceId: "a" })], instances: [busy] },
    expect: ["close-session s"],
  });
  check({
    what: "the bot's own clock decides about the deadline",
    view: {
      sessions: [session({ id: "s", state: "active", instanceId: "a", deadlineAt: NOW - 7_200_000 })],
      instances: [busy],
      seen: [running("a")],
      reports: [report("a", { session: "s", elapsedMs: 59_000 })],
    },
    expect: [],
  });
  check({
    what: "and says when it has passed",
    view: {
      sessions: [session({ id: "s", state: "active", instanceId: "a" })],
      instances: [busy],
      seen: [running("a")],
      reports: [report("a", { session: "s", elapsedMs: 60_000 })],
    },
    expect: ["request-stop s"],
  });
  check({
    what: "a stop is repeated until it is done",
    view: {
      sessions: [session({ id: "s", state: "stopping", instanceId: "a", stopRequestedAt: NOW })],
      instances: [busy],
      seen: [running("a")],
      stoppingForMs: { s: 5_300 },
    },
    expect: ["send-stop s"],
  });
  check({
    what: "and enforced after the grace",
    view: {
      sessions: [session({ id: "s", state: "stopping", instanceId: "a", stopRequestedAt: NOW })],
      instances: [busy],
      seen: [running("a")],
      stoppingForMs: { s: 5_401 },
    },
    expect: ["destroy a"],
  });
});

describe("instances that wait", () => {
  const waiting = ["a", "b", "c"].map((id, at) =>
    instance({ id, createdAt: NOW + at, stateAt: NOW - 60_000 }),
  );
  const agent = { minAgents: 3 };
  const asleep = (id: string) => ({ ...running(id), isPaused: true });
  check({
    what: "all go on running where none is to be paused",
    view: { agent, instances: waiting, seen: waiting.map(({ id }) => running(id)) },
    expect: [],
  });
  check({
    what: "rest beyond the first, which is claimed first",
    view: {
      agent,
      keptAwake: 1,
      instances: waiting.toReversed(),
      seen: waiting.map(({ id }) => running(id)),
    },
    expect: ["pause c", "pause b"],
  });
  check({
    what: "but not before they had time to settle",
    view: { agent, keptAwake: 0, instances: [instance({ id: "a" })], seen: [running("a")] },
    expect: ["request-instance", "request-instance"],
  });
  check({
    what: "are woken when the one before them was taken",
    view: {
      agent: { minAgents: 2 },
      keptAwake: 1,
      instances: [instance({ id: "x", state: "busy", sessionId: "s" }), ...waiting.slice(1)],
      sessions: [session({ id: "s", state: "active", instanceId: "x" })],
      seen: [running("x"), asleep("b"), asleep("c")],
    },
    expect: ["wake b"],
  });
  check({
    what: "stay awake, and are woken, for sessions whose clients are on their way",
    view: {
      agent,
      keptAwake: 0,
      pending: { count: 2, oldestAt: NOW },
      instances: waiting,
      seen: [running("a"), asleep("b"), running("c")],
    },
    expect: ["wake b", "pause c"],
  });
  check({
    what: "are woken when rest is no longer asked for, or a busy one was paused",
    view: {
      agent: { minAgents: 1 },
      instances: [instance({ id: "x", state: "busy", sessionId: "s" }), waiting[0]!],
      sessions: [session({ id: "s", state: "active", instanceId: "x" })],
      seen: [asleep("x"), asleep("a")],
    },
    expect: ["wake x", "wake a"],
  });
});
