import {
  foreignRecord,
  type AgentCondition,
  type AgentRecord,
  type RevisionHealth,
  type RevisionInfo,
} from "@vocalhost/protocol";
import { parseSpec } from "./deployments/deployment-spec.ts";
import { toDeployment } from "./deployments/manifest.ts";
import type { AgentRow, DeploymentRow, InstanceState } from "@vocalhost/store/schema";
import { toTime } from "@vocalhost/base/to-time";

/** The data of an agent's record, read together. */
export interface AgentFacts {
  agent: AgentRow;
  organizationName: string;
  /** The desired deployment, and all that are Active or Draining. */
  deployments: DeploymentRow[];
  instances: InstanceCount[];
  activeSessionCount: number;
}

export interface InstanceCount {
  deploymentId: string;
  state: InstanceState;
  count: number;
}

export function toAgentRecord(facts: AgentFacts): AgentRecord {
  const { agent, organizationName } = facts;
  const desired = facts.deployments.find(({ id }) => id === agent.desiredDeploymentId);
  const active = facts.deployments.find(({ phase }) => phase === "Active");
  const draining = facts.deployments
    .filter(({ phase, id }) => phase === "Draining" && id !== desired?.id)
    .sort((one, other) => other.createdAt - one.createdAt);
  const previous = active && active !== desired ? active : draining[0];
  const spec = desired && parseSpec(desired.spec);
  const ready = desired?.phase === "Active" && desired.failureCode === null;
  const vendorViva = spec ? { audioFilter: spec.audioFilter } : null;
  const available = agent.state === "live" && active !== undefined && canServe(facts, active);
  return {
    name: agent.name,
    region: agent.region,
    ready,
    available,
    createdAt: toTime(agent.createdAt),
    updatedAt: toTime(agent.updatedAt),
    desiredDeploymentId: agent.desiredDeploymentId,
    activeDeploymentId: agent.desiredDeploymentId,
    reconciledDeploymentId: agent.reconciledDeploymentId,
    activeDeploymentReady: ready,
    autoScaling: { minReplicas: agent.minAgents, maxReplicas: agent.maxAgents },
    activeSessionCount: facts.activeSessionCount,
    agentProfile: spec?.agentProfile ?? null,
    vendorViva,
    ...foreignRecord({ vendorViva }),
    deployment: desired ? toDeployment({ agent, organizationName, deployment: desired }) : null,
    currentRevision: desired ? toRevision(facts, desired) : null,
    previousRevision: previous ? toRevision(facts, previous) : null,
    errors: errorsOf(desired),
    conditions: conditionsOf({ agent, available, desired }),
  };
}

function canServe(facts: AgentFacts, active: DeploymentRow): boolean {
  return active.crashes === 0 || countOf(facts, active.id, ["ready", "busy"]) > 0;
}

function toRevision(facts: AgentFacts, deployment: DeploymentRow): RevisionInfo {
  const health = healthOf(facts, deployment);
  return {
    deploymentID: deployment.id,
    phase: PHASES[deployment.phase],
    readyReplicas: countOf(facts, deployment.id, ["ready", "busy"]),
    phaseStartedAt: toTime(deployment.phaseStartedAt),
    ...(health ? { health } : {}),
  };
}

/** Several internal phases map to one published phase. */
const PHASES: Record<DeploymentRow["phase"], RevisionInfo["phase"]> = {
  Creating: "Creating",
  Validating: "Validating",
  Active: "Active",
  Draining: "Draining",
  Retired: "Draining",
  Failed: "Failed",
  Superseded: "Failed",
};

const OUT_OF_MEMORY_EXIT_CODE = 137;

function healthOf(facts: AgentFacts, deployment: DeploymentRow): RevisionHealth | undefined {
  const { id, crashes, lastExitCode, crashText } = deployment;
  const running = countOf(facts, id, ["ready", "busy"]);
  const started = countOf(facts, id, ["starting", "ready", "busy", "draining"]);
  const hasServed = deployment.phase === "Active" || deployment.phase === "Draining";
  if (started + crashes === 0 && !hasServed && crashText === null) return undefined;
  const hasCrashed = crashes > 0;
  const exitReason = lastExitCode === OUT_OF_MEMORY_EXIT_CODE ? "OOMKilled" : "Error";
  const reason = deployment.phase === "Failed" ? exitReason : "CrashLoopBackOff";
  return {
    ready: running > 0,
    state: running > 0 ? "running" : hasCrashed && started === 0 ? "terminated" : "waiting",
    restartCount: crashes,
    replicasStarted: started,
    ...(hasCrashed && running === 0 ? { reason } : {}),
    ...(lastExitCode === null ? {} : { lastExitCode }),
    ...(hasCrashed || lastExitCode !== null ? { lastTerminationReason: exitReason } : {}),
    ...(crashText === null ? {} : { message: crashText }),
  };
}

function errorsOf(desired: DeploymentRow | undefined): { code: string; message: string }[] {
  if (!desired || desired.failureCode === null) return [];
  return [{ code: desired.failureCode, message: desired.failureText ?? desired.failureCode }];
}

function conditionsOf(options: {
  agent: AgentRow;
  available: boolean;
  desired: DeploymentRow | undefined;
}): AgentCondition[] {
  const { agent, available, desired } = options;
  const isProgressing = desired?.phase === "Creating" || desired?.phase === "Validating";
  const hasFailed = desired !== undefined && desired.failureCode !== null;
  const isCrashing = (desired?.crashes ?? 0) > 0;
  return [
    condition("Available", available, agent.state === "live" ? undefined : "Deleting"),
    {
      ...condition("Progressing", isProgressing, desired?.phase),
      ...(isProgressing && desired.progressText !== null ? { message: desired.progressText } : {}),
    },
    {
      ...condition(
        "Degraded",
        hasFailed || isCrashing,
        hasFailed ? "Failed" : isCrashing ? "Crashing" : undefined,
      ),
      ...(hasFailed && desired.failureText !== null ? { message: desired.failureText } : {}),
    },
  ];
}

function condition(
  type: AgentCondition["type"],
  isTrue: boolean,
  reason: string | undefined,
): AgentCondition {
  return { type, status: isTrue ? "True" : "False", ...(reason === undefined ? {} : { reason }) };
}

function countOf({ instances }: AgentFacts, deploymentId: string, states: InstanceState[]): number {
  return instances
    .filter((row) => row.deploymentId === deploymentId && states.includes(row.state))
    .reduce((sum, { count }) => sum + count, 0);
}
