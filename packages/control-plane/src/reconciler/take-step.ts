import type { SessionFilter } from "@vocalhost/protocol";
import type { FailpointName } from "@vocalhost/base/failpoints";
import { asLeader } from "@vocalhost/store/leadership/leader";
import { compareAndSet } from "@vocalhost/store/move-row";
import type { InstanceRow } from "@vocalhost/store/schema";
import type { Tx } from "@vocalhost/store/store";
import { moveDeployment } from "../agents/deployments/deployment-phase.ts";
import type { Deploying } from "../agents/deployments/deploying.ts";
import type { Wakeups } from "../pools/wakeups.ts";
import { expirePending } from "../sessions/pending-sessions.ts";
import { failSession, moveSession } from "../sessions/session-state.ts";
import type { World } from "../sessions/world.ts";
import { closing } from "./close-step.ts";
import { activation, agentDeletion, preparation } from "./deployment-steps.ts";
import { draining, gone, readiness, requestedInstance } from "./instance-steps.ts";
import type { PoolStep, PoolView } from "./plan-pool.ts";

export interface StepContext {
  world: World;
  deploying: Deploying;
  /** Hides the values of the instance's secrets in what it printed. */
  redact(instance: InstanceRow, text: string): Promise<string>;
  wakeups: Wakeups;
  /** Called with the state of the voice filter of each closed session that had one. */
  filterDone?: ((filter: SessionFilter) => void) | undefined;
}

/** Steps that ask a driver or an instance for something and write nothing. */
export type Order = PoolStep & { do: "destroy" | "send-stop" | "pause" | "wake" };
export type Launch = PoolStep & { do: "launch" };
export type WrittenStep = Exclude<PoolStep, Order | Launch>;

/** A step that is ready to be written. */
export interface StepWrite<Outcome = unknown> {
  failpoint?: "instance.recycled" | "deploy.validated" | "deploy.flipped" | "close.committed";
  /** Writes nothing if the row has changed since the plan was made. */
  write(tx: Tx): Promise<Outcome>;
  /** Runs after the commit. */
  committed?(outcome: Outcome): void | Promise<void>;
}

/**
 * Takes a step in one transaction as leader; whatever the step needs to know is gathered before. Returns "waiting" if the
 * step cannot be completed yet, so that looking again at once would be in vain.
 */
export async function takeStep(
  step: WrittenStep,
  view: PoolView,
  context: StepContext,
): Promise<"taken" | "waiting"> {
  const { world } = context;
  const { failpoint, write, committed } = await prepareWrite(step, view, context);
  const pass = (side: "before" | "after"): void => {
    if (failpoint) world.failpoint(`${failpoint}.${side}` satisfies FailpointName);
  };
  pass("before");
  const outcome = await asLeader(world, write);
  pass("after");
  await committed?.(outcome);
  return outcome === "waiting" ? "waiting" : "taken";
}

function prepareWrite(
  step: WrittenStep,
  view: PoolView,
  context: StepContext,
): StepWrite | Promise<StepWrite> {
  const nowMs = context.world.clock.nowMs();
  switch (step.do) {
    case "request-instance":
      return requestedInstance(step, view, context);
    case "mark-ready":
      return readiness(step, view, context);
    case "drain":
      return draining(step, context);
    case "mark-gone":
      return gone(step, view, context);
    case "release":
      return { write: (tx) => compareAndSet(tx, "instances", step.instance, { sessionId: null }) };
    case "prepare-deployment":
      return preparation(step, context);
    case "activate-deployment":
      return activation(step, view, context);
    case "fail-deployment": {
      const changes = { failureCode: step.code, failureText: step.text };
      return { write: (tx) => moveDeployment(tx, step.deployment, { to: "Failed", nowMs, changes }) };
    }
    case "retire-deployment":
      return { write: (tx) => moveDeployment(tx, step.deployment, { to: "Retired", nowMs }) };
    case "expire-pending": {
      const { createdBefore } = step;
      const expired = { agentId: view.agent.id, createdBefore, nowMs, reason: "never-connected" };
      return { write: (tx) => expirePending(tx, expired) };
    }
    case "fail-session":
      return { write: (tx) => failSession(tx, step.session, { reason: step.reason, nowMs }) };
    case "request-stop": {
      const changes = { stopRequestedAt: nowMs, stopReason: step.reason };
      return { write: (tx) => moveSession(tx, step.session, { to: "stopping", changes }) };
    }
    case "close-session":
      return closing(step, view, context);
    case "delete-agent":
      return agentDeletion(view, context);
    default:
      return step satisfies never;
  }
}
