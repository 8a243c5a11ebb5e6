import type { AgentRecord } from "@vocalhost/protocol";
import assert from "node:assert/strict";
import { test } from "node:test";
import type { AgentRow, DeploymentRow, InstanceState } from "@vocalhost/store/schema";
import { toAgentRecord } from "./agent-record.ts";
import { defaultSettings } from "./settings.ts";

const agent: AgentRow = {
  id: "agent",
  organizationId: "organization",
  name: "parrot",
  region: "us-west",
  state: "live",
  minAgents: 0,
  maxAgents: 5,
  desiredDeploymentId: "new",
  reconciledDeploymentId: null,
  version: 1,
  createdAt: 0,
  updatedAt: 0,
  deletedAt: null,
};

function deployment(
  id: string,
  phase: DeploymentRow["phase"],
  changes: Partial<DeploymentRow> = {},
): DeploymentRow {
  return {
    id,
    organizationId: "organization",
    agentId: "agent",
    phase,
    phaseStartedAt: 0,
    spec: JSON.stringify({ ...defaultSettings, image: "a/b:c", buildId: null, secretVersion: null }),
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

interface Case {
  name: string;
  deployments: DeploymentRow[];
  instances?: [string, InstanceState, number][];
  state?: AgentRow["state"];
  expect: {
    ready: boolean;
    available: boolean;
    progressing?: boolean;
    degraded?: boolean;
    previous?: string;
    check?(record: AgentRecord): void;
  };
}

const cases: Case[] = [
  {
    name: "being created for the first time",
    deployments: [deployment("new", "Creating")],
    expect: {
      ready: false,
      available: false,
      progressing: true,
      check: ({ currentRevision }) => assert.equal(currentRevision?.health, undefined),
    },
  },
  {
    name: "its first instance starts",
    deployments: [deployment("new", "Validating")],
    instances: [["new", "starting", 1]],
    expect: {
      ready: false,
      available: false,
      progressing: true,
      check: ({ currentRevision }) =>
        assert.deepEqual(currentRevision?.health, {
          ready: false,
          state: "waiting",
          restartCount: 0,
          replicasStarted: 1,
        }),
    },
  },
  {
    name: "active at zero",
    deployments: [deployment("new", "Active")],
    expect: { ready: true, available: true },
  },
  {
    name: "active with instances",
    deployments: [deployment("new", "Active")],
    instances: [
      ["new", "ready", 2],
      ["new", "busy", 1],
      ["new", "stopped", 7],
    ],
    expect: {
      ready: true,
      available: true,
      check: ({ currentRevision }) => {
        assert.equal(currentRevision?.readyReplicas, 3);
        assert.equal(currentRevision.health?.state, "running");
      },
    },
  },
  {
    name: "a new one rolls out beside the old one",
    deployments: [deployment("new", "Validating"), deployment("old", "Active")],
    instances: [["old", "ready", 1]],
    expect: { ready: false, available: true, progressing: true, previous: "old" },
  },
  {
    name: "a new one has failed, the old one serves",
    deployments: [
      deployment("new", "Failed", {
        crashes: 5,
        lastExitCode: 1,
        crashText: "Error: boom",
        failureCode: "UNKNOWN_ERROR",
        failureText: "The bot crashed 5 times",
      }),
      deployment("old", "Active"),
    ],
    expect: {
      ready: false,
      available: true,
      degraded: true,
      previous: "old",
      check: ({ errors, currentRevision }) => {
        assert.deepEqual(errors, [{ code: "UNKNOWN_ERROR", message: "The bot crashed 5 times" }]);
        assert.deepEqual(currentRevision?.health, {
          ready: false,
          state: "terminated",
          restartCount: 5,
          replicasStarted: 0,
          reason: "Error",
          lastExitCode: 1,
          lastTerminationReason: "Error",
          message: "Error: boom",
        });
      },
    },
  },
  {
    name: "the old one drains",
    deployments: [
      deployment("new", "Active"),
      deployment("older", "Draining", { createdAt: 1 }),
      deployment("old", "Draining", { createdAt: 2 }),
    ],
    expect: { ready: true, available: true, previous: "old" },
  },
  {
    name: "active, but out of memory again and again",
    deployments: [deployment("new", "Active", { crashes: 2, lastExitCode: 137 })],
    instances: [["new", "starting", 1]],
    expect: {
      ready: true,
      available: false,
      degraded: true,
      check: ({ currentRevision }) => {
        assert.equal(currentRevision?.health?.reason, "CrashLoopBackOff");
        assert.equal(currentRevision.health.lastTerminationReason, "OOMKilled");
      },
    },
  },
  {
    name: "being deleted",
    state: "deleting",
    deployments: [deployment("new", "Active")],
    expect: { ready: true, available: false },
  },
];

for (const { name, deployments, instances = [], state = "live", expect } of cases)
  test(`a record says how it is: ${name}`, () => {
    const record = toAgentRecord({
      agent: { ...agent, state },
      organizationName: "acme",
      deployments,
      instances: instances.map(([deploymentId, of, count]) => ({ deploymentId, state: of, count })),
      activeSessionCount: 0,
    });
    assert.equal(record.ready, expect.ready);
    assert.equal(record.activeDeploymentReady, expect.ready);
    assert.equal(record.available, expect.available);
    assert.equal(record.currentRevision?.deploymentID, "new");
    assert.equal(record.previousRevision?.deploymentID, expect.previous);
    const conditions = new Map(record.conditions?.map(({ type, status }) => [type, status === "True"]));
    assert.equal(conditions.get("Available"), expect.available);
    assert.equal(conditions.get("Progressing"), expect.progressing ?? false);
    assert.equal(conditions.get("Degraded"), expect.degraded ?? false);
    expect.check?.(record);
  });
