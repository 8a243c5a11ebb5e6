import assert from "node:assert/strict";
import type { AgentRecord, RevisionInfo } from "@vocalhost/protocol";
import { test } from "node:test";
import { readRollout } from "./rollout.ts";

const NEW = "aaaaaaaa-0000-4000-8000-000000000000";
const OLD = "bbbbbbbb-0000-4000-8000-000000000000";
const TIME = "2026-11-15T12:00:00.000Z";

function recordOf(
  phase: RevisionInfo["phase"],
  more: Partial<AgentRecord> = {},
  health?: RevisionInfo["health"],
): AgentRecord {
  return {
    ...{
      name: "my-bot",
      region: "us-west",
      createdAt: TIME,
      updatedAt: TIME,
      ready: false,
      available: false,
    },
    ...{
      desiredDeploymentId: NEW,
      activeDeploymentId: NEW,
      reconciledDeploymentId: null,
      activeDeploymentReady: false,
    },
    ...{
      autoScaling: { minReplicas: 2, maxReplicas: 5 },
      activeSessionCount: 0,
      agentProfile: null,
      vendorViva: null,
    },
    deployment: null,
    currentRevision: {
      deploymentID: NEW,
      phase,
      readyReplicas: 0,
      phaseStartedAt: TIME,
      ...(health ? { health } : {}),
    },
    ...more,
  };
}

const crashed: RevisionInfo["health"] = {
  ...{ ready: false, state: "terminated", restartCount: 2, replicasStarted: 0, lastExitCode: 1 },
  reason: "CrashLoopBackOff",
  message: "file:///bot.ts:1\n\nTypeError: x is not a function\n    at bot.ts:1:1\n",
};

test("a running rollout says what it does, and a crash why", () => {
  const rows: [AgentRecord, string][] = [
    [recordOf("Creating"), "Creating: preparing image and secrets"],
    [recordOf("Validating"), "Validating: the first instance is starting"],
    [
      recordOf("Validating", {}, crashed),
      "Validating: the bot crashed 2 times (CrashLoopBackOff, exit code 1), it is being restarted: TypeError: x is not a function",
    ],
    [recordOf("Active"), "Active: 0 of 2 reserved instances ready"],
  ];
  for (const [record, line] of rows) {
    const rollout = readRollout(record, NEW);
    assert.deepEqual(rollout.type === "running" && rollout.line, line);
  }
});

test("it is done when what is wanted serves", () => {
  const done = readRollout(recordOf("Active", { ready: true, reconciledDeploymentId: NEW }), NEW);
  assert.deepEqual(done, { type: "done", line: "0 of 2 reserved instances ready" });
  const early = readRollout(recordOf("Active", { ready: true, reconciledDeploymentId: OLD }), NEW);
  assert.equal(early.type, "running");
});

test("a failure names its code, the crash and what still serves", () => {
  const errors = [{ code: "UNKNOWN_ERROR", message: "The bot would not start" }];
  const previousRevision = {
    deploymentID: OLD,
    phase: "Active" as const,
    readyReplicas: 1,
    phaseStartedAt: TIME,
  };
  const failed = readRollout(recordOf("Failed", { errors, previousRevision }, crashed), NEW);
  assert.ok(failed.type === "failed");
  assert.equal(failed.problem.code, "deployment_failed");
  assert.match(
    failed.problem.why ?? "",
    /^UNKNOWN_ERROR: The bot would not start\n[^]*TypeError[^]*\nDeployment bbbbbbbb is still serving\.$/,
  );
  const first = readRollout(recordOf("Failed", { errors }), NEW);
  assert.match(first.type === "failed" ? (first.problem.why ?? "") : "", /takes no sessions/);
});

test("a newer deployment ends the watching", () => {
  const other = readRollout(recordOf("Active", { desiredDeploymentId: OLD }), NEW);
  assert.equal(other.type === "failed" && other.problem.code, "superseded");
});
