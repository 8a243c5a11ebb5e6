import { describe } from "node:test";
import { NOW, check, deployment, instance, running, session } from "./testing/check-plan.ts";

describe("size", () => {
  check({ what: "an agent at rest wants nothing", view: {}, expect: [] });
  check({
    what: "minAgents instances are kept warm",
    view: { agent: { minAgents: 2 } },
    expect: ["request-instance", "request-instance"],
  });
  check({
    what: "a claimed instance is replaced at once",
    view: {
      agent: { minAgents: 1 },
      instances: [instance({ id: "a", state: "busy", sessionId: "s" })],
      sessions: [session({ id: "s", state: "active", instanceId: "a" })],
      seen: [running("a")],
    },
    expect: ["request-instance"],
  });
  check({
    what: "but not while a session starts, as long as there is one for the next",
    view: {
      agent: { minAgents: 2 },
      instances: [
        instance({ id: "a", state: "busy", sessionId: "s" }),
        instance({ id: "b", state: "ready" }),
      ],
      sessions: [session({ id: "s", state: "starting", instanceId: "a" })],
      seen: [running("a"), running("b")],
    },
    expect: [],
  });
  check({
    what: "the last one that is claimed is replaced while its session starts",
    view: {
      agent: { minAgents: 1 },
      instances: [instance({ id: "a", state: "busy", sessionId: "s" })],
      sessions: [session({ id: "s", state: "starting", instanceId: "a" })],
      seen: [running("a")],
    },
    expect: ["request-instance"],
  });
  const cold = {
    recentStarts: 1,
    instances: [instance({ id: "a", state: "starting", sessionId: "s" })],
    sessions: [session({ id: "s", state: "starting", instanceId: "a" })],
    seen: [running("a")],
  };
  check({
    what: "nothing is made beside the instance that the first caller waits for",
    view: { ...cold, startingForMs: { s: 500 } },
    expect: [],
  });
  check({
    what: "unless it takes long",
    view: { ...cold, startingForMs: { s: 2_500 } },
    expect: ["request-instance"],
  });
  check({
    what: "or another caller waits as well",
    view: {
      ...cold,
      instances: [...cold.instances, instance({ id: "b", state: "starting", sessionId: "t" })],
      sessions: [...cold.sessions, session({ id: "t", state: "starting", instanceId: "b" })],
      seen: [running("a"), running("b")],
    },
    expect: ["request-instance"],
  });
  check({
    what: "demand adds a buffer",
    view: { recentStarts: 3 },
    expect: ["request-instance", "request-instance", "request-instance"],
  });
  check({
    what: "a lowered maximum takes back idle instances, whatever the demand",
    view: {
      agent: { maxAgents: 2 },
      recentStarts: 9,
      instances: [
        instance({ id: "a", state: "busy", sessionId: "s" }),
        instance({ id: "b", state: "ready" }),
        instance({ id: "c", state: "starting" }),
        instance({ id: "d", state: "requested" }),
      ],
      sessions: [session({ id: "s", state: "active", instanceId: "a" })],
      seen: [running("a"), running("b"), running("c")],
    },
    expect: ["drain d", "drain c"],
  });
  check({
    what: "never more than maxAgents, whatever the demand",
    view: {
      agent: { maxAgents: 2 },
      recentStarts: 9,
      instances: [instance({ id: "a", state: "ready" })],
      seen: [running("a")],
    },
    expect: ["request-instance"],
  });
  check({
    what: "nor more than the organisation may have",
    view: { agent: { minAgents: 3 }, organizationLeft: 1 },
    expect: ["request-instance"],
  });
  check({
    what: "a lowered quota ends nothing, and adds nothing",
    view: {
      agent: { minAgents: 3 },
      organizationLeft: -2,
      instances: [instance({ id: "a", state: "ready" })],
      seen: [running("a")],
    },
    expect: [],
  });
  check({
    what: "a new deployment proves itself inside the organisation's quota: an idle one makes place",
    view: {
      organizationLeft: 0,
      deployments: [deployment({}), deployment({ id: "new", phase: "Validating" })],
      instances: [instance({ id: "a", state: "ready" })],
      seen: [running("a")],
    },
    expect: ["drain a"],
  });
  check({
    what: "an instance idle for too long goes, but not below minAgents",
    view: {
      agent: { minAgents: 1 },
      instances: [
        instance({ id: "a", state: "ready", stateAt: NOW - 300_000 }),
        instance({ id: "b", state: "ready", stateAt: NOW - 300_000 }),
      ],
      seen: [running("a"), running("b")],
    },
    expect: ["drain a"],
  });
  check({
    what: "a lowered maximum ends idle ones only",
    view: {
      agent: { maxAgents: 1 },
      instances: [
        instance({ id: "a", state: "busy", sessionId: "s" }),
        instance({ id: "b", state: "ready" }),
      ],
      sessions: [session({ id: "s", state: "active", instanceId: "a" })],
      seen: [running("a"), running("b")],
    },
    expect: ["drain b"],
  });
  check({
    what: "a crashed deployment waits before it boots again",
    view: { agent: { minAgents: 1 }, deployments: [deployment({ crashes: 2, lastCrashAt: NOW - 19_999 })] },
    expect: [],
  });
  check({
    what: "and boots when the wait is over",
    view: { agent: { minAgents: 1 }, deployments: [deployment({ crashes: 2, lastCrashAt: NOW - 20_000 })] },
    expect: ["request-instance"],
  });
  check({
    what: "a clock that was set back makes no start wait",
    view: {
      agent: { minAgents: 1 },
      deployments: [deployment({ crashes: 2, lastCrashAt: NOW + 7_200_000 })],
    },
    expect: ["request-instance"],
  });
});
