import type { AgentRecord, RevisionInfo } from "@vocalhost/protocol";
import assert from "node:assert/strict";
import { test } from "node:test";
import { toAgentState } from "./agent-words.ts";

test("each situation has its word, and the reason says whether sessions can start", () => {
  check({}, "Ready", /Scaled to zero/);
  check({ revision: { readyReplicas: 1 } }, "Ready", /Sessions can start/);
  check({ revision: { phase: "Validating" }, available: false }, "Rolling out", /no sessions can start/);
  check({ revision: { phase: "Validating" } }, "Rolling out", /previous version still serves/);
  check({ revision: { phase: "Validating", health: crashed(2) } }, "Crashing", /Crashed 2 times/);
  check(
    { revision: { phase: "Failed" }, errors: [{ code: "X", message: "No bot.ts" }] },
    "Failed",
    /No bot\.ts/,
  );
  check({ revision: { readyReplicas: 1, health: crashed(1) } }, "Degraded", /crashed once/);
  check({ revision: { health: crashed(3) }, available: false }, "Crashing", /3 times/);
  check({ available: false }, "Unavailable", /No session/);
  check(
    { conditions: [{ type: "Available", status: "False", reason: "Deleting" }] },
    "Deleting",
    /may finish/,
  );
});

interface Situation extends Partial<AgentRecord> {
  revision?: Partial<RevisionInfo>;
}

function check({ revision, ...changes }: Situation, word: string, reason: RegExp): void {
  const record = {
    available: true,
    autoScaling: { minReplicas: 0, maxReplicas: 2 },
    currentRevision: { phase: "Active", readyReplicas: 0, ...revision },
    ...changes,
  } as AgentRecord;
  const state = toAgentState(record);
  assert.equal(state.word, word);
  assert.match(state.reason, reason);
}

function crashed(restartCount: number): NonNullable<RevisionInfo["health"]> {
  return { ready: false, state: "terminated", restartCount, replicasStarted: 0 };
}
