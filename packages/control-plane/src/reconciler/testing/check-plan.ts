import assert from "node:assert/strict";
import { test } from "node:test";
import type { SeenInstance } from "@vocalhost/drivers/driver";
import type { InstanceReport } from "../../pools/instances/instance-network.ts";
import { newSessionRow } from "../../sessions/session-row.ts";
import type { AgentRow, DeploymentRow, InstanceRow, SessionRow } from "@vocalhost/store/schema";
import { defaultTiming } from "@vocalhost/base/timing";
import { planPool, type PoolStep, type PoolView } from "../plan-pool.ts";

export const NOW = 1_000_000_000;

/** A view of a pool, as far as it matters, and what is to be done about it. */
interface Case {
  what: string;
  view: Partial<
    Omit<
      PoolView,
      "agent" | "seen" | "beingMade" | "reports" | "missed" | "stoppingForMs" | "startingForMs" | "lastedMs"
    >
  > & {
    agent?: Partial<AgentRow>;
    seen?: SeenInstance[];
    beingMade?: string[];
    reports?: [string, InstanceReport][];
    missed?: Record<string, number>;
    stoppingForMs?: Record<string, number>;
    startingForMs?: Record<string, number>;
    lastedMs?: Record<string, number>;
  };
  expect: string[];
}

export function check({ what, view, expect }: Case): void {
  test(what, () => {
    const steps = planPool({
      deployments: [deployment({})],
      instances: [],
      sessions: [],
      pending: { count: 0, oldestAt: 0 },
      recentStarts: 0,
      organizationLeft: 100,
      bootsAtOnce: 4,
      keptAwake: undefined,
      ...view,
      agent: agent(view.agent ?? {}),
      seen: new Map((view.seen ?? []).map((object) => [object.id, object])),
      beingMade: new Set(view.beingMade ?? []),
      reports: new Map(view.reports ?? []),
      missed: new Map(Object.entries(view.missed ?? {})),
      stoppingForMs: new Map(Object.entries(view.stoppingForMs ?? {})),
      startingForMs: new Map(Object.entries(view.startingForMs ?? {})),
      lastedMs: new Map(Object.entries(view.lastedMs ?? {})),
      nowMs: NOW,
      epoch: 7,
      timing: defaultTiming,
    });
    assert.deepEqual(steps.map(describeStep), expect);
  });
}

function describeStep(step: PoolStep): string {
  const name =
    "instance" in step
      ? step.instance.id
      : "session" in step
        ? step.session.id
        : "deployment" in step
          ? step.deployment.id
          : "";
  const how = "crash" in step && step.crash ? (step.crash.isForeign ? "not its fault" : "crash") : undefined;
  const crash = how === undefined ? "" : ` (${how})`;
  return `${step.do}${name ? ` ${name}` : ""}${crash}`;
}

export function agent(changes: Partial<AgentRow>): AgentRow {
  return {
    id: "agent",
    organizationId: "org",
    name: "bot",
    region: "us-west",
    state: "live",
    minAgents: 0,
    maxAgents: 10,
    desiredDeploymentId: "d1",
    reconciledDeploymentId: "d1",
    version: 1,
    createdAt: 0,
    updatedAt: 0,
    deletedAt: null,
    ...changes,
  };
}

export function deployment(changes: Partial<DeploymentRow>): DeploymentRow {
  return {
    id: "d1",
    organizationId: "org",
    agentId: "agent",
    phase: "Active",
    phaseStartedAt: 0,
    spec: "{}",
    crashes: 0,
    lastCrashAt: null,
    lastExitCode: null,
    crashText: null,
    failureCode: null,
    failureText: null,
    progressText: null,
    version: 1,
    createdAt: 0,
    updatedAt: 0,
    ...changes,
  };
}

export function instance(changes: Partial<InstanceRow>): InstanceRow {
  return {
    id: "a",
    organizationId: "org",
    agentId: "agent",
    deploymentId: "d1",
    state: "ready",
    sessionId: null,
    address: null,
    epoch: 7,
    version: 1,
    createdAt: NOW,
    stateAt: NOW,
    readyAt: null,
    lastSeenAt: null,
    mediaPort: null,
    exitCode: null,
    cause: "",
    ...changes,
  };
}

export function session(changes: Partial<SessionRow>): SessionRow {
  const request = { transport: "webrtc", apiKeyId: null } as const;
  const row = newSessionRow({ request, agent: agent({}), sessionId: "s", nowMs: NOW });
  return { ...row, epoch: 7, maxDurationMs: 60_000, ...changes };
}

export function running(id: string): SeenInstance {
  return { id, state: "running", address: "127.0.0.1:1", exit: undefined };
}

export function exited(id: string, code: number): SeenInstance {
  const exit = { code, signal: null, outOfMemory: false, lastOutput: "" };
  return { id, state: "exited", address: undefined, exit };
}

export function report(
  id: string,
  options: { session?: string; elapsedMs?: number; ended?: boolean } = {},
): [string, InstanceReport] {
  const { session: sessionId, elapsedMs = 1_000 } = options;
  const exit = { sessionId: "s", reason: "bot-finished", elapsedMs, endedAtMs: NOW, marks: {} };
  const state = options.ended ? "ended" : "running";
  return [
    id,
    {
      status: {
        instanceId: id,
        epoch: 7,
        ready: sessionId === undefined,
        session: sessionId
          ? { sessionId, state, elapsedMs, marks: {}, exit: options.ended ? exit : null }
          : null,
        cpuMs: 0,
        memoryBytes: 0,
      },
      heardAtMs: 0,
      heardAt: NOW,
    },
  ];
}
